"""Manifests in, manifests out: one workload gets NVML, everything else stays byte for byte."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flatcar_gpu.errors import Failure, InvalidInput
from flatcar_gpu.kubernetes.nvml.manifests import Document, Path, Workload, split
from flatcar_gpu.kubernetes.nvml.namespace import namespace_problems
from flatcar_gpu.kubernetes.nvml.overlay import pod_patch, without_pattern
from flatcar_gpu.kubernetes.nvml.selection import Selector, at_workload, container_of, pod_of, select
from flatcar_gpu.kubernetes.nvml.strategic_merge import strategic_merge
from flatcar_gpu.kubernetes.nvml.yaml_edit import edited
from flatcar_gpu.report import Position, Problem, Report, Severity

if TYPE_CHECKING:
    from flatcar_gpu.kubernetes.nvml.overlay import PodPatch
    from flatcar_gpu.kubernetes.nvml.pattern import Options, Tree


def post_render(manifests: bytes, file: str, selector: Selector, options: Options) -> tuple[bytes, Report]:
    """`manifests` with the pattern in the workload that fits `selector`, and what the user should know.

    Applied to its own result, it changes nothing. `file` is the name to show in messages.
    Raises Failure or InvalidInput where there is no such workload, or something in it is in the way.
    """
    documents = read_documents(manifests, file)
    workload = select(documents, selector)
    pod, result = patch_of(workload, selector, options)
    text = _with_pod(workload, strategic_merge(pod, result.patch))
    report = Report([*result.problems, *namespace_problems(documents, workload, selector, options)]).in_file(file)
    changed = (text if document is workload.document else document.text for document in documents)
    return "".join(changed).encode(), report


def patch_of(workload: Workload, selector: Selector, options: Options) -> tuple[Tree, PodPatch]:
    """The pod spec of a workload without an earlier pattern, and the patch that adds it.

    Raises InvalidInput where something is in the way.
    """
    try:
        pod = without_pattern(pod_of(workload), options)
        return pod, pod_patch(pod, container_of(workload, pod, selector.container), options)
    except InvalidInput:
        raise
    except Failure as failure:
        raise at_workload(workload, f"cannot get NVML: {failure.message}", failure.hint) from None


def read_documents(manifests: bytes, file: str) -> list[Document]:
    """The documents in `manifests`.

    Raises InvalidInput where they are no UTF-8.
    """
    try:
        return split(manifests.decode(), file)
    except UnicodeDecodeError as error:
        before = manifests[: error.start]
        place = Position(before.count(b"\n") + 1, error.start - (before.rfind(b"\n") + 1) + 1)
        raise InvalidInput(Report([Problem(Severity.ERROR, "this is no UTF-8", "", place, file)])) from None


def _with_pod(workload: Workload, pod: Tree) -> str:
    document = workload.document
    if document.node is None:
        raise RuntimeError("a document with a workload has nodes")
    body = edited(document.body, document.node, _replaced(document.data, workload.pod_path, pod))
    return document.text[:1] + body[1:]


def _replaced(tree: Any, path: Path, value: Any) -> Any:
    """`tree` with `value` at `path`; what is not on the way is shared."""
    if not path:
        return value
    copy: Any = list(tree) if isinstance(tree, list) else dict(tree)
    copy[path[0]] = _replaced(tree[path[0]], path[1:], value)
    return copy
