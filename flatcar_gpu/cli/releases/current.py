"""flatcar-gpu releases current"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from flatcar_gpu.cli import framework
from flatcar_gpu.cli.index_options import index_options, tell_release
from flatcar_gpu.cli.releases.channel import behind, channel_option, release_server_option
from flatcar_gpu.cli.releases.output import as_data, format_option
from flatcar_gpu.flatcar.resolve import resolve_release

if TYPE_CHECKING:
    from flatcar_gpu.cli.console import Console
    from flatcar_gpu.flatcar.access import Access


@framework.command()
@channel_option(
    "--channel",
    default="stable",
    help="alpha, beta, stable, lts, or the LTS of a year such as lts-2024.  [default: stable]",
)
@format_option
@release_server_option
@index_options
@click.pass_obj
def command(console: Console, channel: str, form: str, release_server: str | None, access: Access) -> None:
    """Print the version a channel stands at.

    \b
    flatcar-gpu releases current
    flatcar-gpu releases current --channel lts-2024
    """
    found = resolve_release(channel, access)
    report = found.report
    if found.provenance.asked_the_server:
        report.extend(behind(channel, found.release, release_server, access))
    console.report(report)
    tell_release(channel, found, console)
    if form == "table":
        click.echo(str(found.release.version))
        return
    data = {"channel": channel, "release": found.release.as_dict(), "index": found.provenance.as_dict(time.time())}
    click.echo(as_data(data, form), nl=False)
