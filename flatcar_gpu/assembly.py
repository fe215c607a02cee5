"""A plan made into a whole config: built, translated to Ignition, and joined with the user's own configs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flatcar_gpu.node import build
from flatcar_gpu.report import Report
from flatcar_gpu.rules import check, check_config
from flatcar_gpu.transpile import transpile_tree

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from flatcar_gpu.node.parts import Tree
    from flatcar_gpu.plan import Plan
    from flatcar_gpu.spec_file import SpecSource
    from flatcar_gpu.transpile import Document, Joined


@dataclass(frozen=True, slots=True)
class Node:
    """A node's plan, its Butane tree, and the Ignition tree that comes of it and of the user's configs."""

    plan: Plan
    butane: Tree
    ignition: Tree
    joined: Joined | None = None
    """How the user's configs were joined to it; None where there are none."""


def assemble(plan: Plan, configs: Sequence[Document] = ()) -> Node:
    """Build `plan`, translate it, and merge the user's `configs` over it, each over those before.

    Raises RuntimeError where what was built is no valid Butane: a defect.
    """
    butane = build(plan)
    result = transpile_tree(butane)
    if result.config is None or len(result.report):
        raise RuntimeError(f"the node's config does not transpile: {result.failure} {result.report.as_text()}")
    if not configs:
        return Node(plan, butane, result.config)
    from flatcar_gpu.transpile import Document, join  # late, as most nodes are made alone

    joined = join([Document("", result.report, result.config), *configs])
    return Node(plan, butane, joined.config, joined)


def check_node(node: Node, source: SpecSource, ignored: Collection[str] = ()) -> Report:
    """Findings of the rules in a node's plan and config, and in the user's configs, each at its place."""
    report = Report()
    if node.joined:
        report.extend(problem for document in node.joined.documents for problem in document.report)
        report.extend(node.joined.report)
    report.extend(source.locate(problem) for problem in check(node.plan, ignored))
    for problem in check_config(node.plan, node.ignition, ignored):
        attributed = node.joined.attributed(problem) if node.joined and problem.path.startswith("$") else problem
        report.add(source.locate(attributed))
    return report
