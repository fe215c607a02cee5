"""flatcar-gpu releases list"""

from __future__ import annotations

import time
from datetime import date
from typing import TYPE_CHECKING

import click

from flatcar_gpu.cli import framework
from flatcar_gpu.cli.index_options import index_options, open_index
from flatcar_gpu.cli.options import output_option
from flatcar_gpu.cli.releases.channel import channel_option
from flatcar_gpu.cli.releases.output import as_data, as_table, format_option
from flatcar_gpu.errors import Failure
from flatcar_gpu.files import write_output
from flatcar_gpu.flatcar.index import ARCHITECTURES
from flatcar_gpu.flatcar.version import Version, is_version, kernel_version

if TYPE_CHECKING:
    from flatcar_gpu.cli.console import Console
    from flatcar_gpu.flatcar.access import Access
    from flatcar_gpu.flatcar.index import Release

HEAD = ("VERSION", "CHANNEL", "DATE", "KERNEL", "CONTAINERD", "SYSTEMD", "IGNITION", "ARCHITECTURES")


def _kernel(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    try:
        return None if value is None else kernel_version(value)
    except Failure as failure:
        raise click.BadParameter(f"{failure.message}; {failure.hint}", ctx, parameter) from None


def _since(ctx: click.Context, parameter: click.Parameter, value: str | None) -> date | Version | None:
    if value is None or is_version(value):
        return None if value is None else Version.parse(value)
    try:
        return date.fromisoformat(value)
    except ValueError:
        raise click.BadParameter(
            f"{value!r} is neither a date such as 2026-01-31 nor a version", ctx, parameter
        ) from None


@framework.command()
@channel_option("--channel", "channels", multiple=True, help="Only of this channel; repeatable.")
@click.option("--kernel", metavar="VERSION", callback=_kernel, help="Only with this kernel, as uname -r says it.")
@click.option("--since", metavar="DATE|VERSION", callback=_since, help="Only from this day or version on.")
@click.option("--arch", type=click.Choice(ARCHITECTURES), help="Only for this architecture.")
@format_option
@output_option
@index_options
@click.pass_obj
def command(
    console: Console,
    channels: tuple[str, ...],
    kernel: str | None,
    since: date | Version | None,
    arch: str | None,
    form: str,
    output: str,
    access: Access,
) -> None:
    """List releases, the highest version first.

    A kernel can have come in several releases: all of them are listed.

    \b
    flatcar-gpu releases list --channel stable --since 2026-01-01
    flatcar-gpu releases list --kernel 6.6.74-flatcar
    flatcar-gpu releases list --channel lts-2024 --format json
    """
    loaded = open_index(channels, access, console)
    index = loaded.index
    wanted = {release.version for channel in channels for release in index.of_channel(channel)}
    releases = [
        release
        for release in index
        if (not channels or release.version in wanted) and _fits(release, kernel, since, arch)
    ]
    if not releases:
        console.note("no release fits", level=0)
    if form == "table":
        text = as_table(HEAD, [_row(release) for release in releases])
    else:
        now = time.time()
        provenance = [part.provenance.as_dict(now) for part in loaded.parts]
        text = as_data({"releases": [release.as_dict() for release in releases], "index": provenance}, form)
    write_output(output, text.encode())


def _fits(release: Release, kernel: str | None, since: date | Version | None, arch: str | None) -> bool:
    if isinstance(since, Version) and release.version < since:
        return False
    if isinstance(since, date) and (release.date is None or release.date < since.isoformat()):
        return False
    return kernel in (None, release.kernel) and (arch is None or arch in release.architectures)


def _row(release: Release) -> tuple[str | None, ...]:
    return (
        str(release.version),
        release.channel,
        release.date,
        release.kernel,
        release.containerd,
        release.systemd,
        release.ignition,
        ",".join(release.architectures),
    )
