"""--platform and --shrink: whether a config fits into what a platform takes as user data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from flatcar_gpu.platforms import PLATFORMS, shrunk, size_report

if TYPE_CHECKING:
    from flatcar_gpu.report import Report


shrink_option = click.option(
    "--shrink",
    is_flag=True,
    help="Wrap the config, compressed, in one that unpacks it, where that makes it smaller.",
)

# For commands without the settings of a spec, of which it is one.
platform_option = click.option(
    "--platform",
    type=click.Choice(list(PLATFORMS)),
    help="Where the nodes run: warn from 75 % of its user-data limit on, fail above it.",
)


def fitted(ignition: bytes, config: dict[str, Any], platform: str | None, shrink: bool) -> tuple[bytes, Report]:
    """The bytes to hand out, smaller if asked for, and what `platform` says of their size.

    `config` is the same config as a tree.
    """
    from flatcar_gpu.report import Report

    data = shrunk(ignition, config["ignition"]["version"]) if shrink else ignition
    return data, size_report(PLATFORMS[platform], data, config) if platform else Report()
