"""Finding the one workload, and the one container in it, that shall get NVML."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flatcar_gpu.errors import Failure, InvalidInput
from flatcar_gpu.kubernetes.nvml.agents import is_kepler
from flatcar_gpu.kubernetes.nvml.manifests import Document, Workload, may_hold_workload, workloads
from flatcar_gpu.kubernetes.nvml.overlay import entries
from flatcar_gpu.report import Position, Problem, Report, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flatcar_gpu.kubernetes.nvml.pattern import Tree


@dataclass(frozen=True, slots=True)
class Selector:
    """What the user said of the workload; None leaves it open."""

    name: str
    kind: str | None = None
    namespace: str | None = None
    container: str | None = None

    def fits(self, workload: Workload) -> bool:
        # A manifest that names no namespace goes to the one that is current when it is applied.
        is_in_namespace = self.namespace is None or workload.namespace in (None, self.namespace)
        return workload.name == self.name and self.kind in (None, workload.kind) and is_in_namespace

    def __str__(self) -> str:
        where = f" in namespace {self.namespace}" if self.namespace else ""
        return f"{self.kind or 'workload'} {self.name}{where}"


def select(documents: Iterable[Document], selector: Selector) -> Workload:
    """The workload that fits.

    Raises Failure where none does, InvalidInput where several do or a document that may hold it is no YAML.
    """
    documents = list(documents)
    fitting = [
        workload
        for document in documents
        if may_hold_workload(document, selector.name)
        for workload in workloads(document)
        if selector.fits(workload)
    ]
    exact = [workload for workload in fitting if workload.namespace == selector.namespace]
    found = exact if selector.namespace and exact else fitting
    if len(found) == 1:
        return found[0]
    if found:
        raise _several(found, selector)
    raise Failure(f"there is no {selector} in the manifests; {_what_is_there(documents)}", hint="correct --name")


def container_of(workload: Workload, pod: Tree, name: str | None) -> Tree:
    """The container of `pod` called `name`; without a name the only one, the one called like the workload, or Kepler.

    Raises InvalidInput where it is not there, or not clear which one it is.
    """
    containers = [entry for entry in entries(pod, "containers") if isinstance(entry.get("name"), str)]
    if not containers:
        raise at_workload(workload, "has no containers")
    names = ", ".join(str(entry["name"]) for entry in containers)
    if name is not None:
        fitting = [entry for entry in containers if entry["name"] == name]
        if not fitting:
            raise at_workload(workload, f"has no container {name!r}; it has: {names}", "correct --container")
        return fitting[0]
    for guess in (
        containers if len(containers) == 1 else [],
        [entry for entry in containers if entry["name"] == workload.name],
        [entry for entry in containers if is_kepler(entry)],
    ):
        if len(guess) == 1:
            return guess[0]
    raise at_workload(workload, f"has several containers: {names}", "say which one with --container")


def pod_of(workload: Workload) -> Tree:
    """The pod spec of a workload.

    Raises InvalidInput where it has none.
    """
    found: Any = workload.document.data
    for key in workload.pod_path:
        is_there = (isinstance(found, dict) and key in found) or isinstance(key, int)
        found = found[key] if is_there else None
    if not isinstance(found, dict):
        raise at_workload(workload, f"has no {'.'.join(map(str, workload.pod_path))}")
    return found


def at_workload(workload: Workload, message: str, hint: str = "") -> InvalidInput:
    """An error about a workload that points at its document."""
    return InvalidInput(Report([_problem(workload, f"{workload} {message}", hint)]))


def _problem(workload: Workload, message: str, hint: str = "") -> Problem:
    document = workload.document
    message = f"document {document.number}: {message}"
    return Problem(Severity.ERROR, message, "", Position(workload.line, 1), document.file, hint=hint)


def _several(found: list[Workload], selector: Selector) -> InvalidInput:
    differs = "--kind" if len({workload.kind for workload in found}) > 1 else "--namespace"
    hint = f"say which one with {differs}"
    if len({(workload.kind, workload.namespace) for workload in found}) == 1:
        hint = "remove all but one: they are the same object"
    return InvalidInput(
        Report(
            [_problem(workload, f"{workload} is one of {len(found)} that fit {selector}", hint) for workload in found]
        )
    )


def _what_is_there(documents: list[Document]) -> str:
    present = [
        str(workload) for document in documents if may_hold_workload(document, "") for workload in workloads(document)
    ]
    if not present:
        return "they have no workloads at all"
    return "they have: " + ", ".join(dict.fromkeys(present))
