"""What the commands that need the release index share: its options, and opening it with everything said on stderr.

A command takes `@index_options` and gets `access: Access`; it calls `open_index` for the index of some or all channels,
or `find_release` for the release that a version or channel is.
"""

from __future__ import annotations

import time
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from flatcar_gpu.flatcar.access import DEFAULT_INDEX_URL, Access

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from flatcar_gpu.cli.console import Console
    from flatcar_gpu.flatcar.resolve import Resolved
    from flatcar_gpu.flatcar.sources import Loaded, Provenance


def index_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command --index-url, --offline and --timeout; it is passed them as `access`."""

    @wraps(function)
    def collected(index_url: str, offline: bool, timeout: float, **arguments: Any) -> Any:
        return function(access=Access(index_url, offline=offline, timeout=timeout), **arguments)

    decorated: Callable[..., Any] = collected
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated


_OPTIONS = (
    click.option(
        "--index-url",
        default=DEFAULT_INDEX_URL,
        metavar="URL|FOLDER|FILE",
        help=f"Where the release index is: a server, a folder or a file.  [default: {DEFAULT_INDEX_URL}]",
    ),
    click.option("--offline", is_flag=True, help="Never connect: use what the cache and the package have."),
    click.option(
        "--timeout",
        type=click.FloatRange(min=0, min_open=True, max=3600),
        default=10.0,
        metavar="SECONDS",
        help="How long to wait for a server.  [default: 10]",
    ),
)


def open_index(channels: Collection[str], access: Access, console: Console) -> Loaded:
    """The index of some channels, of all where none is named; its warnings and, with -v, its provenance are said."""
    from flatcar_gpu.flatcar.index import CHANNELS  # late, as the index is not always needed
    from flatcar_gpu.flatcar.sources import load

    loaded = load(channels or CHANNELS, access)
    console.report(loaded.report)
    tell_parts(loaded, console)
    return loaded


def find_release(text: str, access: Access, console: Console) -> Resolved:
    """The release that a version or channel is; warnings and, with -v, the release and its provenance are said."""
    from flatcar_gpu.flatcar.resolve import resolve_release

    resolved = resolve_release(text, access)
    console.report(resolved.report)
    tell_release(text, resolved, console)
    return resolved


def tell_parts(loaded: Loaded, console: Console) -> None:
    """With -v, say where each part of the index was taken from."""
    for part in loaded.parts:
        _tell(part.provenance, console)


def tell_release(text: str, resolved: Resolved, console: Console) -> None:
    """With -v, say which release `text` is and where that is known from."""
    if text != str(resolved.release.version):
        console.note(f"{text} is Flatcar {resolved.release.version}")
    _tell(resolved.provenance, console)


def _tell(provenance: Provenance, console: Console) -> None:
    console.note(f"release index: {provenance.as_text(time.time())}")
