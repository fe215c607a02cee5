"""The way from a spec file to a checked fleet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flatcar_gpu.cli.index_options import find_release
from flatcar_gpu.cli.node import conclude
from flatcar_gpu.fleet import plan_fleet
from flatcar_gpu.render import assemble_pools
from flatcar_gpu.rules.checks import check_fleet

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flatcar_gpu.assembly import Node
    from flatcar_gpu.cli.console import Console
    from flatcar_gpu.cli.node import NodeArguments
    from flatcar_gpu.flatcar.index import Release
    from flatcar_gpu.fleet import Fleet
    from flatcar_gpu.spec_file import Loaded


@dataclass(frozen=True, slots=True)
class CheckedFleet:
    """A fleet without errors, and the node of each pool by the pool's name."""

    fleet: Fleet
    nodes: Mapping[str, Node]


def checked_fleet(loaded: Loaded, node: NodeArguments, console: Console, *, strict: bool) -> CheckedFleet:
    """The fleet that a spec describes.

    Raises InvalidInput where a rule finds errors, or, with `strict`, warnings.
    """

    def release(name: str) -> Release:
        return find_release(name, node.access, console).release

    fleet = plan_fleet(loaded, release)
    nodes = assemble_pools(fleet)
    conclude(check_fleet(fleet, nodes, loaded, node.ignored), loaded.source.sources, console, strict=strict)
    return CheckedFleet(fleet, nodes)
