"""A plan as values of the gpu-operator chart: what differs from its defaults, or must be certain, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flatcar_gpu import chart as charts
from flatcar_gpu.helm.yaml_text import Entry, entries_text
from flatcar_gpu.node.containerd import CONFIG_PATH, DROP_IN_PATH
from flatcar_gpu.plan import DEFAULT_INSTALL_DIR, Toleration, is_below
from flatcar_gpu.spec import Strategy, Toolkit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flatcar_gpu.flatcar.index import Release
    from flatcar_gpu.plan import DriverImage, Operator, Plan

DEFAULT_RUNTIME_CLASS = "nvidia"

# What the chart sets itself, since a list of ours replaces its whole list. Source: values.yaml of chart v26.7.0.
GPU_TAINT = Toleration("nvidia.com/gpu", effect="NoSchedule")
_CONTROL_PLANE_TAINT = Toleration("node-role.kubernetes.io/control-plane", value="", effect="NoSchedule")


def operator_values(plan: Plan, *, with_default_resource: bool = False) -> tuple[Entry, ...]:
    """The values for the nodes of a plan. Same plan, same entries.

    With NVIDIADriver resources the chart makes none itself, since `driver_resources` describes them all, and then no
    image stands here; `with_default_resource` lets the chart make one from an image that does.
    """
    return (
        *_operator(plan.operator),
        *_container_interface(plan),
        *_tolerations(plan.operator),
        *_driver(plan, with_default_resource=with_default_resource),
        *_toolkit(plan),
        *_validator(plan),
    )


def values_text(plan: Plan) -> bytes:
    """The values for the nodes of a plan as YAML, with what each is for."""
    comment = f"Values of the gpu-operator chart {plan.operator.chart} for GPU nodes on Flatcar Container Linux."
    return entries_text(operator_values(plan), comment)


def image_entries(image: DriverImage, release: Release | None = None) -> Iterator[Entry]:
    """The keys of a driver image, which the chart's `driver` and a NVIDIADriver's `spec` have alike.

    `release` is that of the nodes where it is known, for the comment.
    """
    if image.repository is not None:
        yield Entry("repository", image.repository, setting="driver.repository")
    yield Entry("image", image.name, setting="driver.image")
    if version := image.digest or image.version:
        yield Entry(
            "version", version, _why_version(image, release), "driver.digest" if image.digest else "driver.version"
        )
    if image.precompiled:
        yield Entry(
            "usePrecompiled", True, "the tag names the kernel, whose modules the image holds", "driver.precompiled"
        )
    if image.kernel_module_type is not None:
        yield Entry("kernelModuleType", str(image.kernel_module_type), setting="driver.kernelModuleType")
    if image.pull_secrets:
        yield Entry("imagePullSecrets", list(image.pull_secrets), setting="driver.imagePullSecrets")
    if image.rdma:
        yield Entry("rdma.enabled", True, setting="driver.rdma")


def toleration_trees(tolerations: tuple[Toleration, ...]) -> list[dict[str, Any]]:
    """Tolerations as Kubernetes has them."""
    return [_toleration_tree(toleration) for toleration in tolerations]


def _toleration_tree(toleration: Toleration) -> dict[str, Any]:
    tree: dict[str, Any] = {"key": toleration.key, "operator": "Exists"}
    if toleration.value is not None:
        tree |= {"operator": "Equal", "value": toleration.value}
    return tree | ({"effect": toleration.effect} if toleration.effect else {})


def _operator(operator: Operator) -> Iterator[Entry]:
    if not charts.RUNTIME_IS_DETECTED.holds(operator.chart):
        why = f"charts before {charts.RUNTIME_IS_DETECTED.since} take docker for the runtime"
        yield Entry("operator.defaultRuntime", "containerd", why, "operator.chartVersion")
    if operator.runtime_class != DEFAULT_RUNTIME_CLASS:
        yield Entry("operator.runtimeClass", operator.runtime_class, setting="operator.runtimeClass")


def _container_interface(plan: Plan) -> Iterator[Entry]:
    if plan.operator.nri:
        why = "GPUs come by NRI, without a runtime class; needs containerd 2, Flatcar 4459.2.0 or later (inferred)"
        yield Entry("cdi.nriPluginEnabled", True, why, "operator.nri")


def _tolerations(operator: Operator) -> Iterator[Entry]:
    if operator.tolerations:
        ours = (GPU_TAINT, *(taint for taint in operator.tolerations if taint != GPU_TAINT))
        trees = toleration_trees(ours)
        yield Entry("daemonsets.tolerations", trees, "replaces the chart's list", "operator.tolerations")
        why = "without node labels from every GPU node nothing is deployed there; replaces the chart's list"
        workers = toleration_trees((_CONTROL_PLANE_TAINT, *ours))
        yield Entry("node-feature-discovery.worker.tolerations", workers, why, "operator.tolerations")


def _driver(plan: Plan, *, with_default_resource: bool) -> Iterator[Entry]:
    if plan.driver_image is None:
        yield Entry("driver.enabled", False, _who_brings_the_driver(plan), "driver.strategy")
        return
    if plan.operator.nvidia_driver_crd:
        why = "each Flatcar release gets a driver DaemonSet with an image of its own"
        yield Entry("driver.nvidiaDriverCRD.enabled", True, why, "operator.nvidiaDriverCRD")
        if not with_default_resource:
            why = "`flatcar-gpu nvidia-drivers` prints the resources"
            yield Entry("driver.nvidiaDriverCRD.deployDefaultCR", False, why, "operator.nvidiaDriverCRD")
            return
    for entry in image_entries(plan.driver_image, plan.release):
        if (entry.key, entry.value) not in (("image", "driver"), ("kernelModuleType", "auto")):
            yield Entry(f"driver.{entry.key}", entry.value, entry.why, entry.setting)


def _who_brings_the_driver(plan: Plan) -> str:
    match plan.strategy:
        case Strategy.SYSEXT:
            return f"Flatcar's extension {plan.driver_sysext} brings the driver"
        case Strategy.SERVICE:
            return "Flatcar's nvidia.service builds the driver on the node"
        case _:
            return "the operator brings no driver"


def _why_version(image: DriverImage, release: Release | None) -> str:
    if image.digest:
        which = f" of {image.version}" if image.version else ""
        return f"digest of the image{which}; the operator appends nothing to it"
    version_id = str(release.version) if release else "VERSION_ID"
    kernel = ((release and release.uname) or "KERNEL") + "-" if image.precompiled else ""
    return f"the operator pulls {image.repository}/{image.name}:{image.version}-{kernel}flatcar{version_id}"


def _toolkit(plan: Plan) -> Iterator[Entry]:
    if plan.toolkit is not Toolkit.OPERATOR:
        brings = "Flatcar's nvidia-runtime extension brings the" if plan.runtime_sysext else "the operator brings no"
        yield Entry("toolkit.enabled", False, f"{brings} container toolkit", "toolkit.provider")
        return
    if plan.install_dir is not None and plan.install_dir != DEFAULT_INSTALL_DIR:
        is_overlaid = is_below(plan.install_dir, "/usr/local")
        why = "in the node's overlay on /usr/local" if is_overlaid else "outside /usr, which is read-only on Flatcar"
        yield Entry("toolkit.installDir", plan.install_dir, why, "toolkit.installDir")
    if not plan.operator.nri:
        why, variables = _containerd_files(plan.operator.chart)
        yield Entry("toolkit.env", _env(variables), why, "operator.chartVersion")


def _containerd_files(chart: charts.ChartVersion) -> tuple[str, Mapping[str, str]]:
    """Where the toolkit finds the configuration that the node starts containerd with, and where it writes its own.

    Before charts that write a drop-in the toolkit rewrites CONTAINERD_CONFIG with all that `containerd config dump`
    says. In the file that containerd starts with, Flatcar's imported CRI section would win over that; in an imported
    file it holds. Tried with containerd 1.6.20; the toolkit's part is inferred. See tests/contract/test_toolkit_config.
    """
    if charts.TOOLKIT_WRITES_DROP_IN.holds(chart):
        why = "the file that containerd starts with on the node, and one that it imports"
        return why, {"CONTAINERD_CONFIG": CONFIG_PATH, "RUNTIME_DROP_IN_CONFIG": DROP_IN_PATH}
    return f"a file that {CONFIG_PATH} on the node imports, after Flatcar's", {"CONTAINERD_CONFIG": DROP_IN_PATH}


def _validator(plan: Plan) -> Iterator[Entry]:
    chart = plan.operator.chart
    is_stuck = plan.strategy is not Strategy.NONE and charts.VALIDATOR_LOADS_MODULES.holds(chart)
    # nvidia.service keeps its modules below /opt/nvidia, where the validator's modprobe does not find them.
    if is_stuck or (plan.strategy is Strategy.SERVICE and charts.VALIDATOR_LOADS_HOST_MODULES.holds(chart)):
        why = "else the validator runs modprobe, and waits for ever where the host's folders lack the module"
        variables = {"DISABLE_DEV_CHAR_SYMLINK_CREATION": "true"}
        yield Entry("validator.driver.env", _env(variables), why, "operator.chartVersion")


def _env(variables: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in variables.items()]
