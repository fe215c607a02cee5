"""The options about channels, and comparing a channel with its release server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from flatcar_gpu.flatcar.access import DEFAULT_INDEX_URL
from flatcar_gpu.flatcar.index import CHANNELS, is_channel
from flatcar_gpu.report import Report

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.shell_completion import CompletionItem

    from flatcar_gpu.flatcar.access import Access
    from flatcar_gpu.flatcar.index import Release


def channel_option(*names: str, **attributes: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """An option whose value, or each of whose values, is a Flatcar channel."""
    return click.option(*names, metavar="CHANNEL", callback=_channels, shell_complete=_completions, **attributes)


def _channels(ctx: click.Context, parameter: click.Parameter, value: str | tuple[str, ...]) -> str | tuple[str, ...]:
    for channel in (value,) if isinstance(value, str) else value:
        if not is_channel(channel):
            known = f"{', '.join(CHANNELS)} and lts-YEAR"
            raise click.BadParameter(f"{channel!r} is none of {known}", ctx, parameter)
    return value


def _completions(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    from flatcar_gpu.flatcar.snapshot import snapshot

    return [CompletionItem(name) for name in snapshot().channels if name.startswith(incomplete)]


release_server_option = click.option(
    "--release-server",
    metavar="URL",
    help="Release server to compare the index with; {channel} in it is replaced. Flatcar's own is asked only "
    "where the index is Flatcar's own, too.",
)


def behind(channel: str, release: Release, release_server: str | None, access: Access) -> Report:
    """A warning where the release server has a newer release of the channel than the index.

    Who reads the index from a mirror may not reach Flatcar's servers, and has not asked for it.
    """
    from flatcar_gpu.flatcar.release_server import DEFAULT_RELEASE_SERVER, behind_server

    if release_server is None and access.index_url != DEFAULT_INDEX_URL:
        return Report()
    return behind_server(channel, release, release_server or DEFAULT_RELEASE_SERVER, access.timeout)
