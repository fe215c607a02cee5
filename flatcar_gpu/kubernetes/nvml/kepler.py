"""Values for Kepler's Helm chart, and what such values cannot do.

Charts that can copy NVML have `daemonset.nvidia` and an init container `nvidia-libs`
(sustainable-computing-io/kepler#2489). v0.11.4 and older do not, and ignore such values without a word: the chart has
no values schema.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING

import yaml

from flatcar_gpu.errors import Failure
from flatcar_gpu.kubernetes.nvml.driver_root import host_path_of
from flatcar_gpu.kubernetes.nvml.liveness import TIMEOUT, landing_page_probe
from flatcar_gpu.kubernetes.nvml.manifests import Loader, member
from flatcar_gpu.kubernetes.nvml.namespace import namespace_problem
from flatcar_gpu.kubernetes.nvml.overlay import PodPatch, entries, tell_about_options
from flatcar_gpu.kubernetes.nvml.pattern import (
    GPU_TAINT,
    PINNED_IMAGE,
    SIZE_LIMIT,
    Liveness,
    Options,
    Tree,
)
from flatcar_gpu.kubernetes.nvml.post_render import read_documents
from flatcar_gpu.kubernetes.nvml.yaml_edit import block_text
from flatcar_gpu.report import Report

if TYPE_CHECKING:
    from collections.abc import Iterator

CHART_INIT_CONTAINER = "nvidia-libs"

# The chart's own tolerations, which a list in values replaces; their operator and effect are inferred.
_CHART_TOLERATIONS = [
    {"key": f"node-role.kubernetes.io/{role}", "operator": "Exists", "effect": "NoSchedule"}
    for role in ("control-plane", "master")
]


class ChartHasNvml(StrEnum):
    """Whether the chart copies NVML itself."""

    AUTO = "auto"
    YES = "yes"
    NO = "no"


def chart_has_nvml(chart: bytes, file: str) -> bool:
    """Whether a chart copies NVML itself, by its values or by what it renders to.

    Raises Failure where that cannot be told, InvalidInput where `chart` is no YAML.
    """
    trees = [document.data for document in read_documents(chart, file) if not document.is_empty]
    objects = [tree for tree in trees if isinstance(tree, dict) and "kind" in tree]
    if objects:
        return _render_has_nvml(objects, file)
    if len(trees) == 1 and isinstance(trees[0], dict) and isinstance(trees[0].get("daemonset"), dict):
        return member(trees[0], "daemonset", "nvidia", "nvmlInitImage") is not None
    raise Failure(
        f"{file} is neither the values of Kepler's chart nor a render of it",
        hint="give what `helm show values` or `helm template --set config.experimental.gpu.enabled=true` prints",
    )


def chart_values(chart: bytes, file: str) -> Tree:
    """The values in `chart`; empty where it is a render."""
    trees = [document.data for document in read_documents(chart, file) if not document.is_empty]
    return trees[0] if len(trees) == 1 and isinstance(trees[0], dict) and "kind" not in trees[0] else {}


def kepler_values(
    options: Options, *, has_nvml: bool, gpu: bool = True, present: Tree | None = None
) -> tuple[Tree, Report]:
    """Values for Kepler's chart, and what they cannot do. `present` are the values that they go on top of.

    Without `gpu` they turn GPU metrics off and have nothing else.
    Raises Failure where a chart that copies NVML itself has no value for an option.
    """
    values: Tree = {"config": {"experimental": {"gpu": {"enabled": gpu}}}}
    if not gpu:
        return values, Report()
    present = present or {}
    result = PodPatch({})
    daemonset: Tree = {"tolerations": _tolerations(present)}
    if options.node_selector:
        daemonset["nodeSelector"] = options.node_selector
    daemonset |= _probes(options)
    if has_nvml and options.copies:
        daemonset["nvidia"] = _chart_copy(options)
    for lack in _lacks(options, has_nvml=has_nvml):
        result.warn(
            f"values alone cannot do it: {lack}", "use `flatcar-gpu nvml post-render` on what the chart renders"
        )
    if member(present, "config", "web", "configFile") and not (options.scheme or options.basic_auth):
        result.warn(
            "config.web.configFile is set: with TLS or a password in it the probe fails",
            "add --scheme HTTPS or --basic-auth",
        )
    tell_about_options(result, options)
    values["daemonset"] = daemonset
    return values, Report([*result.problems, namespace_problem(member(present, "namespace", "name"))])


def values_text(values: Tree, report: Report) -> str:
    """The values as YAML, below what they cannot do."""
    lacks = [f"# {problem.message}\n" for problem in report if problem.message.startswith("values alone")]
    return "".join(lacks) + block_text(values)


def _render_has_nvml(objects: list[Tree], file: str) -> bool:
    pods = [pod for tree in objects if isinstance(pod := member(tree, "spec", "template", "spec"), dict)]
    if any(entry.get("name") == CHART_INIT_CONTAINER for pod in pods for entry in entries(pod, "initContainers")):
        return True
    if any(_gpu_is_on(tree) for tree in objects):
        return False
    raise Failure(
        f"{file} was rendered without GPU metrics: it does not show whether the chart can copy NVML",
        hint="render it with --set config.experimental.gpu.enabled=true, or give the chart's values",
    )


def _gpu_is_on(tree: Tree) -> bool:
    config = member(tree, "data", "config.yaml") if tree.get("kind") == "ConfigMap" else None
    if not isinstance(config, str):
        return False
    try:
        loaded = yaml.load(config, Loader)  # noqa: S506 - a SafeLoader
    except yaml.YAMLError:
        return False
    return member(loaded, "experimental", "gpu", "enabled") is True


def _tolerations(present: Tree) -> list[Tree]:
    given = member(present, "daemonset", "tolerations")
    kept = given if isinstance(given, list) else _CHART_TOLERATIONS
    return [*kept, *([] if GPU_TAINT in kept else [dict(GPU_TAINT)])]


def _probes(options: Options) -> Tree:
    """Maps merge in Helm: what is not said, such as the port, stays as the chart has it."""
    if options.liveness is Liveness.KEEP:
        return {}
    if options.liveness is Liveness.OFF:
        return {"livenessProbe": None}
    if options.basic_auth:
        return {"livenessProbe": {"httpGet": None, "tcpSocket": {"port": "http"}, "timeoutSeconds": TIMEOUT}}
    probe = landing_page_probe(options)
    if options.liveness in (Liveness.AUTO, Liveness.LANDING_PAGE):
        probe["failureThreshold"] = 3
    return {"livenessProbe": probe}


def _chart_copy(options: Options) -> Tree:
    path = host_path_of(options.driver_root)
    if path is None:
        raise Failure(
            "the chart takes one driver root, so --driver-root auto cannot be a value",
            hint="name the driver root, or use `flatcar-gpu nvml post-render`",
        )
    image = re.fullmatch(PINNED_IMAGE.pattern, options.image)
    if image is None or image["tag"] is None or image["digest"] is not None:
        raise Failure(
            "the chart takes a repository and a tag for the init container, no digest",
            hint="give --image REPOSITORY:TAG, or use `flatcar-gpu nvml post-render`",
        )
    return {"driverPath": path, "nvmlInitImage": {"repository": image["repository"], "tag": image["tag"]}}


def _lacks(options: Options, *, has_nvml: bool) -> Iterator[str]:
    if options.copies and not has_nvml:
        yield "this chart brings no NVML library into Kepler's container"
    if options.runtime_class:
        yield "the chart has no value for --runtime-class"
    if has_nvml and not options.copies:
        yield "the chart copies NVML whenever GPU metrics are on, --no-copy or not"
    if has_nvml and options.copies:
        settings = {
            "--wait": options.wait_seconds,
            "--lib-dir": options.lib_dirs,
            "--selinux-type": options.selinux_type,
            "--size-limit": options.size_limit != SIZE_LIMIT,
        }
        for flag, is_given in settings.items():
            if is_given:
                yield f"the chart's init container has no value for {flag}"
