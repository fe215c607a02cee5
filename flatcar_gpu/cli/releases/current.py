"""flatcar-gpu releases current"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from flatcar_gpu.cli import framework
from flatcar_gpu.cli.index_options import find_release, index_options
from flatcar_gpu.cli.releases.channel import behind, channel_option, release_server_option
from flatcar_gpu.cli.releases.output import as_data, format_option

if TYPE_CHECKING:
    from flatcar_gpu.cli.console import Console
    from flatcar_gpu.flatcar.sources import Access


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
    found = find_release(channel, access, console)
    if found.provenance.asked_the_server:
        console.report(behind(channel, found.release, release_server, access))
    if form == "table":
        click.echo(str(found.release.version))
        return
    data = {"channel": channel, "release": found.release.as_dict(), "index": found.provenance.as_dict(time.time())}
    click.echo(as_data(data, form), nl=False)
