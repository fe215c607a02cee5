"""A plan made into a whole config: built, and translated to Ignition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flatcar_gpu.node import build
from flatcar_gpu.transpile import transpile_tree

if TYPE_CHECKING:
    from flatcar_gpu.node.parts import Tree
    from flatcar_gpu.plan import Plan


@dataclass(frozen=True, slots=True)
class Node:
    """A node's plan, its Butane tree, and the Ignition tree that comes of it."""

    plan: Plan
    butane: Tree
    ignition: Tree


def assemble(plan: Plan) -> Node:
    """Build `plan` and translate it. Raises RuntimeError where what was built is no valid Butane: a defect."""
    butane = build(plan)
    result = transpile_tree(butane)
    if result.config is None or len(result.report):
        raise RuntimeError(f"the node's config does not transpile: {result.failure} {result.report.as_text()}")
    return Node(plan, butane, result.config)
