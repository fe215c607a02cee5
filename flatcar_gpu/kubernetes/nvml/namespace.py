"""Pod security admission: a hostPath volume is admitted only by namespaces that enforce `privileged`.

Source: pod-security-admission, checks of hostPath (baseline, restricted), hostPID and privileged (baseline).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flatcar_gpu.kubernetes.nvml.manifests import member
from flatcar_gpu.report import Problem, Severity

if TYPE_CHECKING:
    from flatcar_gpu.kubernetes.nvml.manifests import Document, Workload
    from flatcar_gpu.kubernetes.nvml.pattern import Options
    from flatcar_gpu.kubernetes.nvml.selection import Selector

ENFORCE = "pod-security.kubernetes.io/enforce"

LABELS = {f"pod-security.kubernetes.io/{mode}": "privileged" for mode in ("enforce", "audit", "warn")}


def namespace_problems(
    documents: list[Document], workload: Workload, selector: Selector, options: Options
) -> list[Problem]:
    """What to tell about the namespace of `workload`: nothing where the manifests label it as it needs to be."""
    if not options.copies:
        return []
    name = workload.namespace or selector.namespace
    return [] if name and any(_labels(document, name) for document in documents) else [namespace_problem(name)]


def namespace_problem(name: str | None) -> Problem:
    """That a namespace needs the label, and how it gets it."""
    return Problem(
        Severity.INFO,
        f"namespace {name or 'of the agent'} must admit hostPath volumes; where pod security admission enforces "
        "more than `privileged`, no pod appears and the workload has FailedCreate events",
        hint=f"kubectl label namespace {name or 'NAMESPACE'} {ENFORCE}=privileged",
    )


def _labels(document: Document, name: str) -> bool:
    if ENFORCE not in document.text:
        return False
    data = document.data
    is_it = member(data, "kind") == "Namespace" and member(data, "metadata", "name") == name
    return is_it and bool(member(data, "metadata", "labels", ENFORCE) == "privileged")
