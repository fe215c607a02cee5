"""The GPU nodes of a cluster, or an error that says how to find them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flatcar_gpu.errors import Failure
from flatcar_gpu.kubernetes.nodes import survey

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flatcar_gpu.kubernetes.nodes import Node, Survey


def gpu_nodes(nodes: Iterable[Node], *, all_nodes: bool) -> Survey:
    """The nodes in groups. Raises Failure where none has a GPU and runs Flatcar."""
    found = survey(nodes, all_nodes=all_nodes)
    if found.groups:
        return found
    if found.flatcar_without_gpu:
        raise Failure(
            f"no Flatcar node shows a GPU, by label or by capacity ({found.flatcar_without_gpu} looked at)",
            hint="where node-feature-discovery does not run yet, --all-nodes takes all of them; narrow the list with "
            "`kubectl get nodes -l KEY=VALUE -o json`",
        )
    raise Failure(f"no node runs Flatcar ({found.total} looked at)")
