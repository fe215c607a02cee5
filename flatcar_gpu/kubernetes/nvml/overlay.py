"""The pattern as one strategic-merge patch of a pod spec, checked against the pod and joined with what it has."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flatcar_gpu.errors import Failure
from flatcar_gpu.kubernetes.nvml.agents import findings, is_kepler
from flatcar_gpu.kubernetes.nvml.liveness import landing_page_probe, probe_change
from flatcar_gpu.kubernetes.nvml.pattern import (
    DEVICE_VARIABLES,
    GPU_TAINT,
    INIT_CONTAINER,
    LIBRARY_PATH,
    LIBRARY_VOLUME,
    SEARCH_PATH,
    Liveness,
    Options,
    Tree,
    init_container,
    is_root_volume,
    library_mount,
    variables_list,
    volumes,
)
from flatcar_gpu.kubernetes.nvml.strategic_merge import DIRECTIVE
from flatcar_gpu.report import Problem, Severity

if TYPE_CHECKING:
    from collections.abc import Callable

_DRIVER_CONTAINER_ROOT = "/run/nvidia/driver"


@dataclass(slots=True)
class PodPatch:
    """A strategic-merge patch of a pod spec, and what the user should know about it."""

    patch: Tree
    problems: list[Problem] = field(default_factory=list)

    def note(self, message: str, hint: str = "") -> None:
        self.problems.append(Problem(Severity.INFO, message, hint=hint))

    def warn(self, message: str, hint: str = "") -> None:
        self.problems.append(Problem(Severity.WARNING, message, hint=hint))


def pod_patch(pod: Tree, container: Tree, options: Options) -> PodPatch:
    """What makes NVML available to `container` of `pod`, which must be free of an earlier copy of the pattern.

    Raises Failure where the pod has something in the way.
    """
    result = PodPatch(_of_pod(options))
    if tolerations := _joined_tolerations(pod):
        result.patch["tolerations"] = tolerations
    change: Tree = {"name": container["name"], "env": [], "volumeMounts": []}
    if options.copies:
        _add_copy(result.patch, change, pod, container, options)
    present = {entry.get("name") for entry in entries(container, "env")}
    change["env"] += variables_list({name: value for name, value in DEVICE_VARIABLES.items() if name not in present})
    probes = probe_change(container, options)
    change |= probes.patch
    result.patch["containers"] = [{key: value for key, value in change.items() if value != []}]
    for note in probes.notes:
        result.note(note)
    _tell(result, container)
    tell_about_options(result, options)
    return result


def blind_pod_patch(container_name: str, options: Options) -> PodPatch:
    """The same for a pod that is not known: nothing that its own lists or probes would have to be joined with."""
    result = PodPatch(_of_pod(options))
    change: Tree = {"name": container_name, "env": variables_list(DEVICE_VARIABLES)}
    if options.copies:
        change["env"] = variables_list({SEARCH_PATH: LIBRARY_PATH}) + change["env"]
        change["volumeMounts"] = [library_mount()]
        result.patch |= {"initContainers": [init_container(options)], "volumes": volumes(options)}
    result.patch["containers"] = [change]
    hint = "give the manifest with --target"
    result.warn(
        f"without the manifest neither the container {container_name!r} nor its {SEARCH_PATH} can be checked: a wrong "
        "name adds a container without an image, and a variable that is there is replaced",
        hint,
    )
    result.warn("the toleration of the taint nvidia.com/gpu is left out: it would replace those of the manifest", hint)
    if options.liveness is Liveness.OFF:
        change["livenessProbe"] = None
    elif options.liveness in (Liveness.LANDING_PAGE, Liveness.LIVEZ) or (
        options.liveness is Liveness.AUTO and is_kepler({"name": container_name})
    ):
        change["livenessProbe"] = landing_page_probe(options)
    elif options.liveness is not Liveness.KEEP:
        result.warn("probes are left as they are: a timeout alone would be no probe where there is none", hint)
    tell_about_options(result, options)
    return result


def without_pattern(pod: Tree, options: Options) -> Tree:
    """`pod` without what an earlier pass put into it; variables of devices, tolerations and probes stay.

    What `options` will put there again stays as an entry with nothing but its name, so that it keeps its place.
    Raises Failure where the pod has a volume of the pattern's name that is something else.
    """
    ours = {volume.get("name") for volume in entries(pod, "volumes") if _is_ours(volume)}
    wanted = {volume["name"] for volume in volumes(options)} if options.copies else set()
    stripped = dict(pod)
    _replace(stripped, "volumes", lambda entry: _stub(entry, wanted) if entry.get("name") in ours else entry)
    copier = {INIT_CONTAINER} if options.copies else set()
    _replace(
        stripped,
        "initContainers",
        lambda entry: _stub(entry, copier) if entry.get("name") == INIT_CONTAINER else entry,
    )
    if not options.copies:
        _replace(stripped, "containers", lambda entry: _without_copy(entry, ours))
    return stripped


def entries(tree: Tree, key: str) -> list[Tree]:
    """The list of maps at `key`; empty where there is none."""
    found = tree.get(key)
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []


def tell_about_options(result: PodPatch, options: Options) -> None:
    """What options ask of the cluster."""
    on_gpu_nodes = options.gpu_nodes_only or options.client_label
    if options.runtime_class and not on_gpu_nodes:
        result.warn(
            f"nodes without the handler of runtime class {options.runtime_class!r} cannot start the pod",
            "add --gpu-nodes-only, unless every node has it",
        )
    if options.wait_seconds and not on_gpu_nodes:
        result.warn(
            f"nodes without a GPU start the agent {options.wait_seconds} seconds late",
            "add --gpu-nodes-only, unless every node has a GPU",
        )
    if options.client_label:
        result.note(
            "nodes have the label nvidia.com/gpu.deploy.client from gpu-operator v26.7.0 on; before, none has it"
        )
    if not options.copies and not options.runtime_class:
        result.warn("without the copy and without a runtime class the agent may find no library", "add --runtime-class")


def _of_pod(options: Options) -> Tree:
    patch: Tree = {}
    if options.runtime_class:
        patch["runtimeClassName"] = options.runtime_class
    if options.node_selector:
        patch["nodeSelector"] = options.node_selector
    return patch


def _add_copy(patch: Tree, change: Tree, pod: Tree, container: Tree, options: Options) -> None:
    outdated = _outdated_mounts(pod, container)
    for mount in entries(container, "volumeMounts"):
        if _clean(mount.get("mountPath")) == LIBRARY_PATH and mount.get("name") != LIBRARY_VOLUME:
            raise Failure(
                f"container {container['name']!r} already mounts volume {mount.get('name')!r} at {LIBRARY_PATH}",
                hint="its chart seems to copy the library itself: leave it to the chart, or turn that off there "
                "(`flatcar-gpu nvml kepler-values` writes values for such a chart of Kepler)",
            )
    change["env"] += variables_list({SEARCH_PATH: _joined_search_path(container, outdated)})
    change["volumeMounts"] += [library_mount(), *({"mountPath": path, DIRECTIVE: "delete"} for path in outdated)]
    patch["initContainers"] = [init_container(options)]
    unused = [name for name in outdated.values() if not _is_used_elsewhere(name, pod, container)]
    patch["volumes"] = [*volumes(options), *({"name": name, DIRECTIVE: "delete"} for name in dict.fromkeys(unused))]


def _outdated_mounts(pod: Tree, container: Tree) -> dict[str, str]:
    """Mounts of the whole driver root in the agent, by path: they bring the driver's glibc and pin an old root."""
    roots = {
        volume.get("name")
        for volume in entries(pod, "volumes")
        if isinstance(host := volume.get("hostPath"), dict) and _clean(host.get("path")) == _DRIVER_CONTAINER_ROOT
    }
    return {
        mount["mountPath"]: mount["name"]
        for mount in entries(container, "volumeMounts")
        if mount.get("name") in roots and "mountPath" in mount
    }


def _is_used_elsewhere(volume: str, pod: Tree, container: Tree) -> bool:
    others = [*entries(pod, "containers"), *entries(pod, "initContainers")]
    return any(
        mount.get("name") == volume
        for other in others
        if other is not container
        for mount in entries(other, "volumeMounts")
    )


def _joined_search_path(container: Tree, outdated: dict[str, str]) -> str:
    variable = next((entry for entry in entries(container, "env") if entry.get("name") == SEARCH_PATH), {})
    if "valueFrom" in variable:
        raise Failure(
            f"{SEARCH_PATH} of container {container['name']!r} is a valueFrom: nothing can be added to it",
            hint=f"make it a plain value, or add {LIBRARY_PATH} where it comes from",
        )
    roots = [_clean(path) for path in outdated]
    kept = [
        folder
        for folder in str(variable.get("value") or "").split(":")
        if folder and folder != LIBRARY_PATH and not any(f"{_clean(folder)}/".startswith(f"{root}/") for root in roots)
    ]
    return ":".join([LIBRARY_PATH, *kept])


def _joined_tolerations(pod: Tree) -> list[Tree]:
    """The pod's tolerations and that of GPU nodes; empty where the pod tolerates them already."""
    present = entries(pod, "tolerations")
    return [] if any(_tolerates_gpu_nodes(toleration) for toleration in present) else [*present, dict(GPU_TAINT)]


def _tolerates_gpu_nodes(toleration: Tree) -> bool:
    return (
        toleration.get("operator") == "Exists"
        and (toleration.get("key") or GPU_TAINT["key"]) == GPU_TAINT["key"]
        and (toleration.get("effect") or GPU_TAINT["effect"]) == GPU_TAINT["effect"]
    )


def _tell(result: PodPatch, container: Tree) -> None:
    for finding in findings(container.get("image")):
        result.warn(f"container {container['name']!r}: {finding.says}", finding.hint)
    context = container.get("securityContext")
    if not (isinstance(context, dict) and context.get("privileged") is True):
        result.warn(
            f"container {container['name']!r} is not privileged: NVML needs the device nodes /dev/nvidia* as well",
            "run it privileged, or let the runtime bring the devices with --runtime-class nvidia",
        )
    if any("$(" in str(entry.get("value")) for entry in entries(container, "env")):
        result.note("its env uses $(VAR), which needs that order of variables: kustomize may change it")


def _is_ours(volume: Tree) -> bool:
    name = volume.get("name")
    for is_named, source in ((name == LIBRARY_VOLUME, "emptyDir"), (is_root_volume(name), "hostPath")):
        if is_named and source not in volume:
            raise Failure(f"the pod has a volume {name!r} of its own that is no {source}", hint="rename that volume")
        if is_named:
            return True
    return False


def _without_copy(container: Tree, volume_names: set[Any]) -> Tree:
    stripped = dict(container)
    _replace(stripped, "volumeMounts", lambda mount: None if mount.get("name") in volume_names else mount)
    search_path = {"name": SEARCH_PATH, "value": LIBRARY_PATH}
    _replace(stripped, "env", lambda entry: None if entry == search_path else entry)
    return stripped


def _stub(entry: Tree, wanted: set[str]) -> Tree | None:
    return {"name": entry["name"]} if entry["name"] in wanted else None


def _replace(tree: Tree, key: str, replacement: Callable[[Tree], Tree | None]) -> None:
    """Replace each entry of the list at `key`, or drop it where there is no replacement, and the list with the last."""
    if not entries(tree, key):
        return
    tree[key] = [new for entry in entries(tree, key) if (new := replacement(entry)) is not None]
    if not tree[key]:
        del tree[key]


def _clean(path: Any) -> str:
    return "/" + "/".join(part for part in str(path).split("/") if part not in ("", "."))
