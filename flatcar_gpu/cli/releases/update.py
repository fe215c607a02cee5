"""flatcar-gpu releases update"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from flatcar_gpu.cli import framework
from flatcar_gpu.cli.index_options import index_options, open_index
from flatcar_gpu.cli.releases.channel import behind, channel_option, release_server_option
from flatcar_gpu.cli.releases.output import as_data, as_table, format_option
from flatcar_gpu.errors import Unavailable
from flatcar_gpu.flatcar.index import LIVE_CHANNELS
from flatcar_gpu.flatcar.location import is_remote

if TYPE_CHECKING:
    from flatcar_gpu.cli.console import Console
    from flatcar_gpu.flatcar.sources import Access, Part

HEAD = ("CHANNEL", "CURRENT", "LATEST RELEASE", "INDEX")


@framework.command()
@channel_option("--channel", "channels", multiple=True, help="Only this channel; repeatable.  [default: all]")
@format_option
@release_server_option
@index_options
@click.pass_obj
def command(console: Console, channels: tuple[str, ...], form: str, release_server: str | None, access: Access) -> None:
    """Fetch the newest release index into the cache, and say whether it lags behind the release servers.

    What is unchanged is not transferred again. If a channel cannot be fetched, the cache stays as it is and the exit
    code is 1.

    \b
    flatcar-gpu releases update
    flatcar-gpu releases update --channel stable
    """
    if access.offline:
        raise click.UsageError("updating means connecting, which --offline forbids")
    if not is_remote(access.index_url):
        raise click.UsageError(f"{access.index_url} is read each time as it is: there is nothing to update")
    loaded = open_index(channels, replace(access, refresh=True), console)
    parts = {channel: part for channel in channels or loaded.index.channels if (part := loaded.part_of(channel))}
    now = time.time()
    if form == "table":
        text = as_table(HEAD, [_row(channel, part) for channel, part in parts.items()])
    else:
        text = as_data({"channels": [_entry(channel, part, now) for channel, part in parts.items()]}, form)
    click.echo(text, nl=False)
    failed = [channel for channel, part in parts.items() if not part.provenance.asked_the_server]
    if failed:
        raise Unavailable(f"the release index of {', '.join(failed)} could not be updated")
    for channel in channels or LIVE_CHANNELS:
        if release := loaded.index.current_release(channel):
            console.report(behind(channel, release, release_server, access))


def _row(channel: str, part: Part) -> tuple[str | None, ...]:
    release = part.index.current_release(channel)
    return channel, str(release.version) if release else None, part.provenance.newest, str(part.provenance.source)


def _entry(channel: str, part: Part, now: float) -> dict[str, object]:
    release = part.index.current_release(channel)
    version = str(release.version) if release else None
    return {"channel": channel, "current": version, "index": part.provenance.as_dict(now)}
