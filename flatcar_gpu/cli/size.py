"""--platform and --shrink: whether a config fits into what a platform takes as user data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from flatcar_gpu.platforms import PLATFORMS, shrunk, size_report

if TYPE_CHECKING:
    from collections.abc import Callable

    from flatcar_gpu.report import Report


def size_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command --platform and --shrink; it is passed them as `platform` and `shrink`."""
    function = click.option(
        "--shrink",
        is_flag=True,
        help="Wrap the config, compressed, in one that unpacks it, where that makes it smaller.",
    )(function)
    return click.option(
        "--platform",
        type=click.Choice(list(PLATFORMS)),
        help="Warn from 75 % of this platform's user-data limit on, fail above it.",
    )(function)


def fitted(ignition: bytes, config: dict[str, Any], platform: str | None, shrink: bool) -> tuple[bytes, Report]:
    """The bytes to hand out, smaller if asked for, and what `platform` says of their size.

    `config` is the same config as a tree.
    """
    from flatcar_gpu.report import Report

    data = shrunk(ignition, config["ignition"]["version"]) if shrink else ignition
    return data, size_report(PLATFORMS[platform], data, config) if platform else Report()
