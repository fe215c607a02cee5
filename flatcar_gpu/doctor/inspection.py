"""A node beside the plan that it should be made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flatcar_gpu.images.os_tag import os_tag

if TYPE_CHECKING:
    from flatcar_gpu.doctor.observed import Observed
    from flatcar_gpu.plan import Plan


@dataclass(frozen=True, slots=True)
class Inspection:
    """What rules about live nodes are given."""

    plan: Plan
    node: Observed


def summary(inspection: Inspection) -> str:
    """What the node is, a line a fact.

    Raises Failure where it does not run Flatcar.
    """
    plan, node = inspection.plan, inspection.node
    version = str(node.os_release.version)
    facts = {
        "release": version,
        "kernel": node.first("kernel"),
        "driver tags end in": os_tag("flatcar", version, str(plan.operator.chart)),
        "nvidia module": node.first("nvidia-module") or "not loaded",
        "nvidia-smi": ", ".join(node.lines("nvidia-smi")) or "none",
        "/usr/local": "writable" if node.usr_local_is_writable else "read-only",
        "containerd reads": node.containerd_config or "nothing: it does not run",
        "runtimes": ", ".join(sorted(node.runtimes)) or "none named",
        "updates": ", ".join(f"{key}={value}" for key, value in sorted(node.update_settings.items())) or "defaults",
    }
    return "".join(f"{name + ':':<20}{fact}\n" for name, fact in facts.items())
