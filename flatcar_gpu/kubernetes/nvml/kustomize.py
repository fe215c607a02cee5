"""The pattern as a strategic-merge patch, and as a kustomization that applies it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flatcar_gpu.errors import Failure
from flatcar_gpu.kubernetes.nvml.manifests import POD_SPECS
from flatcar_gpu.kubernetes.nvml.namespace import LABELS, namespace_problem, namespace_problems
from flatcar_gpu.kubernetes.nvml.overlay import blind_pod_patch
from flatcar_gpu.kubernetes.nvml.post_render import patch_of, read_documents
from flatcar_gpu.kubernetes.nvml.selection import Selector, select
from flatcar_gpu.kubernetes.nvml.yaml_edit import block_text
from flatcar_gpu.report import Report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flatcar_gpu.kubernetes.nvml.pattern import Options, Tree

_API_VERSIONS = {"Pod": "v1", "ReplicationController": "v1", "Job": "batch/v1", "CronJob": "batch/v1"}


def patch_for_target(manifests: bytes, file: str, selector: Selector, options: Options) -> tuple[Tree, Report]:
    """The strategic-merge patch for the workload that `manifests` have, and what the user should know.

    Raises Failure or InvalidInput where there is no such workload, or something in it is in the way.
    """
    documents = read_documents(manifests, file)
    workload = select(documents, selector)
    if workload.path:
        raise Failure(f"{workload} is inside a List", hint="kustomize patches single documents: write it as one")
    _, result = patch_of(workload, selector, options)
    report = Report([*result.problems, *namespace_problems(documents, workload, selector, options)]).in_file(file)
    api_version = workload.tree.get("apiVersion")
    return _wrapped(result.patch, workload.kind, api_version, workload.name, workload.namespace), report


def patch_without_target(selector: Selector, options: Options) -> tuple[Tree, Report]:
    """The strategic-merge patch for a workload that is not known; a DaemonSet unless the selector says otherwise."""
    kind = selector.kind or "DaemonSet"
    result = blind_pod_patch(selector.container or selector.name, options)
    patch = _wrapped(result.patch, kind, _API_VERSIONS.get(kind, "apps/v1"), selector.name, selector.namespace)
    return patch, Report([*result.problems, namespace_problem(selector.namespace)])


def patch_text(patch: Tree) -> str:
    return block_text(patch)


def kustomization_text(patch: Tree, resources: Sequence[str]) -> str:
    """A kustomization with the patch in it, which also labels the namespace where that is one of the resources."""
    metadata = patch["metadata"]
    # A target, unlike the name in a patch, may match nothing: the namespace need not be among the resources.
    patches = [{"target": {"kind": patch["kind"], **metadata}, "patch": block_text(patch)}]
    if "namespace" in metadata:
        name = metadata["namespace"]
        labels = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": LABELS}}
        patches.append({"target": {"kind": "Namespace", "name": name}, "patch": block_text(labels)})
    return block_text(
        {
            "apiVersion": "kustomize.config.k8s.io/v1beta1",
            "kind": "Kustomization",
            **({"resources": list(resources)} if resources else {}),
            "patches": patches,
        }
    )


def _wrapped(pod: Tree, kind: str, api_version: object, name: str, namespace: str | None) -> Tree:
    spec: Tree = pod
    for key in reversed(POD_SPECS[kind]):
        spec = {str(key): spec}
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **spec}
