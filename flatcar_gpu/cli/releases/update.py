"""flatcar-gpu releases update"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from flatcar_gpu.cli import framework
from flatcar_gpu.cli.index_options import index_options, tell_parts
from flatcar_gpu.cli.releases.channel import behind, channel_option, release_server_option
from flatcar_gpu.cli.releases.output import as_data, as_table, format_option
from flatcar_gpu.flatcar.index import CHANNELS, LIVE_CHANNELS
from flatcar_gpu.flatcar.location import is_remote
from flatcar_gpu.flatcar.sources import load

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flatcar_gpu.cli.console import Console
    from flatcar_gpu.flatcar.access import Access
    from flatcar_gpu.flatcar.sources import Part

HEAD = ("CHANNEL", "CURRENT", "LATEST RELEASE", "INDEX")


@framework.command()
@channel_option("--channel", "channels", multiple=True, help="Only this channel; repeatable.  [default: all]")
@format_option
@release_server_option
@index_options
@click.pass_obj
def command(console: Console, channels: tuple[str, ...], form: str, release_server: str | None, access: Access) -> int:
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
    loaded = load(channels or CHANNELS, replace(access, refresh=True))
    tell_parts(loaded, console)
    report = loaded.report
    parts = {channel: loaded.part_of(channel) for channel in channels or loaded.index.channels}
    updated = {channel: part for channel, part in parts.items() if part and part.provenance.asked_the_server}
    if failed := [channel for channel in parts if channel not in updated]:
        report.error(f"the release index of {', '.join(failed)} could not be updated")
    for channel in channels or LIVE_CHANNELS:
        if channel in updated and (release := updated[channel].index.current_release(channel)):
            report.extend(behind(channel, release, release_server, access))
    console.report(report)
    click.echo(_text(parts, form), nl=False)
    return 1 if failed else 0


def _text(parts: Mapping[str, Part | None], form: str) -> str:
    if form == "table":
        return as_table(HEAD, [_row(channel, part) for channel, part in parts.items()])
    now = time.time()
    entries = [
        {
            "channel": channel,
            "current": _current(channel, part),
            "index": part.provenance.as_dict(now) if part else None,
        }
        for channel, part in parts.items()
    ]
    return as_data({"channels": entries}, form)


def _row(channel: str, part: Part | None) -> tuple[str | None, ...]:
    if part is None:
        return channel, None, None, "not known"
    return channel, _current(channel, part), part.provenance.newest, str(part.provenance.source)


def _current(channel: str, part: Part | None) -> str | None:
    release = part.index.current_release(channel) if part else None
    return str(release.version) if release else None
