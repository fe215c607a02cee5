"""flatcar-gpu releases show"""

from __future__ import annotations

import time
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import click

from flatcar_gpu.cli import framework
from flatcar_gpu.cli.index_options import find_release, index_options
from flatcar_gpu.cli.options import output_option
from flatcar_gpu.cli.releases.abilities import abilities
from flatcar_gpu.cli.releases.output import as_data, format_option
from flatcar_gpu.files import write_output
from flatcar_gpu.flatcar.capabilities import BrokenDriver, Fact, capabilities

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flatcar_gpu.cli.console import Console
    from flatcar_gpu.flatcar.access import Access
    from flatcar_gpu.flatcar.capabilities import Capabilities
    from flatcar_gpu.flatcar.index import Release


@framework.command()
@click.argument("release", metavar="VERSION|CHANNEL")
@format_option
@output_option
@index_options
@click.pass_obj
def command(console: Console, release: str, form: str, output: str, access: Access) -> None:
    """Show a release and what it can do; with -v each line's source, too.

    "inferred" marks what follows from known facts without anybody having looked.

    \b
    flatcar-gpu releases show 4593.2.5
    flatcar-gpu releases show lts-2024 -v
    """
    found = find_release(release, access, console)
    can = capabilities(found.release)
    if form == "table":
        text = "".join(_lines(found.release, can, with_sources=console.verbose > 0))
    else:
        data = {"release": found.release.as_dict(), "capabilities": _as_dict(can)}
        text = as_data(data | {"index": found.provenance.as_dict(time.time())}, form)
    write_output(output, text.encode())


def _lines(release: Release, can: Capabilities, *, with_sources: bool) -> Iterator[str]:
    yield f"Flatcar {release.version}\n"
    facts = {
        "channel": release.channel,
        "published": release.date,
        "architectures": ", ".join(release.architectures),
        "kernel": release.uname,
        "docker": release.docker,
        "containerd": release.containerd,
    }
    for name, value in facts.items():
        yield f"  {name:<15} {value or 'the index does not say'}\n"
    for ability in abilities(can):
        mark = "  (inferred)" if ability.inferred else ""
        yield f"  {ability.about:<15} {ability.says}{mark}\n"
        if with_sources:
            yield f"  {'':<15}   source: {ability.source}\n"


def _as_dict(can: Capabilities) -> dict[str, Any]:
    return {field.name: _plain(getattr(can, field.name)) for field in fields(can)} | {
        "butane_version": can.butane_version
    }


def _plain(value: Any) -> Any:
    """`value` with facts and broken drivers as objects, and everything else as JSON and YAML have it."""
    if isinstance(value, Fact | BrokenDriver):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, str) else value
