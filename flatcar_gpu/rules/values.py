"""Rules about values of the gpu-operator chart on Flatcar, whether made from a spec or read from a file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from flatcar_gpu.chart import LINES, NEWEST, TOOLKIT_WRITES_DROP_IN
from flatcar_gpu.plan import is_below
from flatcar_gpu.report import Severity
from flatcar_gpu.rules.registry import Finding, Subject, rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flatcar_gpu.helm.values import Values

_IMAGE_PATH = "gpu-operator internal/image/image.go and api/nvidia/v1/clusterpolicy_types.go"
_TEMPLATES = "templates of the gpu-operator chart v26.7.0"
NVIDIA_REGISTRY = "nvcr.io"


def _deploys_a_driver(values: Values) -> bool:
    """Whether the image in the values is used; not where NVIDIADriver resources of one's own name the images."""
    has_resources = values.get("driver.nvidiaDriverCRD.enabled") is True
    makes_one = values.get("driver.nvidiaDriverCRD.deployDefaultCR") is not False
    return values.get("driver.enabled") is not False and (makes_one or not has_resources)


def _text(values: Values, key: str) -> str:
    value = values.get(key)
    return value if isinstance(value, str) else ""


@rule(
    "FG303",
    "NVIDIA publishes no driver image for Flatcar",
    subject=Subject.VALUES,
    why="The operator appends -flatcarVERSION_ID to the tag. NVIDIA's registry is not known to hold any such image, so "
    "the driver pod never gets further than ImagePullBackOff.",
    source="gpu-driver-container 7a164e3 (flatcar removed, 2026-04-28); NVIDIA/gpu-operator#418, #1623, #2664",
    remedy="name a registry with images of your own in driver.repository (--repository), or let Flatcar bring the "
    "driver (--driver sysext, driver.enabled: false)",
)
def driver_image_is_published(values: Values) -> Iterator[Finding]:
    repository = _text(values, "driver.repository")
    if _deploys_a_driver(values) and _is_nvidias(repository) and not _is_digest(_text(values, "driver.version")):
        given = values.given("driver.repository") is not None
        says = f"{repository} has" if given else f"no repository is given, and the chart's default, {repository}, has"
        yield Finding("driver.repository", f"{says} no driver image for Flatcar")


def _is_nvidias(repository: str) -> bool:
    return is_below(repository, NVIDIA_REGISTRY)


def _is_digest(version: str) -> bool:
    return version.startswith("sha256:")


@rule(
    "FG304",
    "a pinned driver image of NVIDIA's registry",
    severity=Severity.WARNING,
    subject=Subject.VALUES,
    why="The only flatcar images known from there are of 2021, for the kernels 5.10.25 and 5.10.32 (2765.2.2 and "
    "2765.2.3); an image for another distribution builds no modules on Flatcar.",
    source="nvidia-container-toolkit#18; flatcar/Flatcar#1162; a list of the registry's tags was not found",
    remedy="make sure that the digest is of an image for Flatcar",
)
def pinned_image_is_for_flatcar(values: Values) -> Iterator[Finding]:
    repository = _text(values, "driver.repository")
    if _deploys_a_driver(values) and _is_nvidias(repository) and _is_digest(_text(values, "driver.version")):
        yield Finding("driver.version", f"hardly any image in {repository} is for Flatcar")


@rule(
    "FG305",
    "a digest with precompiled modules",
    subject=Subject.VALUES,
    why="A precompiled image's tag names the kernel. The operator refuses a digest in a NVIDIADriver, and makes an "
    "invalid reference of it in a ClusterPolicy.",
    source=f"{_IMAGE_PATH}; GetPrecompiledImagePath",
    remedy="give driver.version as the version or branch in the tag, or leave usePrecompiled (--precompiled) out",
)
def precompiled_has_no_digest(values: Values) -> Iterator[Finding]:
    if (
        _deploys_a_driver(values)
        and values.get("driver.usePrecompiled")
        and _is_digest(_text(values, "driver.version"))
    ):
        yield Finding("driver.version", "a precompiled driver cannot be pinned to a digest")


@rule(
    "FG306",
    "the image's name holds its tag or digest",
    subject=Subject.VALUES,
    why="The operator appends version and release to it, which makes an invalid reference.",
    source=f"{_IMAGE_PATH}; the CRD's pattern for image is not anchored",
    remedy="give repository, image and version apart; a digest is a version that begins with sha256:",
)
def image_is_a_name(values: Values) -> Iterator[Finding]:
    image = _text(values, "driver.image")
    # With both others emptied the operator takes the image as it stands.
    is_whole = values.given("driver.repository") == "" == values.given("driver.version")
    if _deploys_a_driver(values) and not is_whole and re.search("[:@]", image):
        yield Finding("driver.image", f"{image!r} is more than a name")


@rule(
    "FG307",
    "the version ends in what the operator appends",
    subject=Subject.VALUES,
    why="The operator appends -flatcarVERSION_ID to every tag, so it would stand there twice.",
    source=f"{_IMAGE_PATH}, in every chart since 1.3.0; NVIDIA/gpu-operator#1533",
    remedy="leave the release out of driver.version, or pin the image by its digest",
)
def version_lacks_the_release(values: Values) -> Iterator[Finding]:
    version = _text(values, "driver.version")
    if _deploys_a_driver(values) and re.search(r"-flatcar\d", version):
        yield Finding("driver.version", f"the operator would pull {version}-flatcarVERSION_ID")


@rule(
    "FG308",
    "GPUDirect Storage or GDRCopy with precompiled modules",
    subject=Subject.VALUES,
    why="The operator refuses them together.",
    source="gpu-operator controllers/object_controls.go and internal/validator",
    remedy="leave one of the two out",
)
def precompiled_has_no_gds(values: Values) -> Iterator[Finding]:
    for name in ("gds", "gdrcopy"):
        if _deploys_a_driver(values) and values.get("driver.usePrecompiled") and values.get(f"{name}.enabled"):
            yield Finding(f"{name}.enabled", f"{name} cannot be used with driver.usePrecompiled")


@rule(
    "FG309",
    "precompiled modules without NVIDIADriver resources",
    severity=Severity.WARNING,
    subject=Subject.VALUES,
    why="With a ClusterPolicy all nodes get the tag of one release, and the operator stops where two releases share a "
    "kernel, as many of Flatcar's do (6.6.74: 4152.2.0 and 4152.2.1).",
    source="gpu-operator getKernelVersionsMap; Flatcar's release data",
    remedy="use --nvidia-driver-crd (driver.nvidiaDriverCRD.enabled), or keep all nodes on one release",
)
def precompiled_has_resources(values: Values) -> Iterator[Finding]:
    has_resources = values.get("driver.nvidiaDriverCRD.enabled")
    if _deploys_a_driver(values) and values.get("driver.usePrecompiled") is True and not has_resources:
        yield Finding("driver.usePrecompiled", "two Flatcar releases with one kernel stop the operator")


@rule(
    "FG310",
    "package repositories or certificates for the driver container",
    subject=Subject.VALUES,
    why="The operator knows no folder for them on Flatcar, and the driver's state fails.",
    source="gpu-operator RepoConfigPathMap and CertConfigPathMap",
    remedy="leave it empty; put what is needed into the image",
)
def no_package_repositories(values: Values) -> Iterator[Finding]:
    for key in ("driver.repoConfig.configMapName", "driver.certConfig.name"):
        if _deploys_a_driver(values) and values.get(key) and not values.get("driver.usePrecompiled"):
            yield Finding(key, "the operator does not support this on Flatcar")


@rule(
    "FG311",
    "GPUDirect RDMA with Flatcar's driver container",
    severity=Severity.WARNING,
    subject=Subject.VALUES,
    why="The operator then runs reload_nvidia_peermem in the driver container, a command that images made from "
    "NVIDIA's flatcar folder do not have.",
    source="gpu-driver-container flatcar/nvidia-driver at b63fda1",
    remedy="leave rdma out, or make sure that the image has the command",
)
def rdma_has_its_command(values: Values) -> Iterator[Finding]:
    if _deploys_a_driver(values) and values.get("driver.rdma.enabled"):
        yield Finding("driver.rdma.enabled", "NVIDIA's flatcar driver container cannot load nvidia_peermem")


@rule(
    "FG312",
    "NRI without CDI or without the operator's toolkit",
    subject=Subject.VALUES,
    why="The chart's templates refuse it: the plugin is part of the toolkit and hands out CDI devices.",
    source=_TEMPLATES,
    remedy="leave cdi.enabled and toolkit.enabled true (--toolkit operator), or NRI (--nri) out",
)
def nri_has_what_it_needs(values: Values) -> Iterator[Finding]:
    for key in ("cdi.enabled", "toolkit.enabled"):
        if values.get("cdi.nriPluginEnabled") and values.get(key) is False:
            yield Finding("cdi.nriPluginEnabled", f"NRI needs {key}")


@rule(
    "FG313",
    "a taint that Node Feature Discovery does not tolerate",
    severity=Severity.WARNING,
    subject=Subject.VALUES,
    why="Without the labels of Node Feature Discovery the operator takes a node for one without a GPU.",
    source="gpu-operator controllers/state_manager.go; values.yaml, node-feature-discovery.worker.tolerations",
    remedy="put the toleration into node-feature-discovery.worker.tolerations, too",
)
def discovery_tolerates_the_taints(values: Values) -> Iterator[Finding]:
    ours = values.given("daemonsets.tolerations")
    workers = values.given("node-feature-discovery.worker.tolerations")
    # What the chart itself gives the workers.
    default = [{"key": "node-role.kubernetes.io/control-plane"}, {"key": "nvidia.com/gpu"}]
    tolerated = _taint_keys(default if workers is None else workers)
    if values.get("nfd.enabled") is not False and None not in tolerated:
        for name in sorted(str(key) for key in _taint_keys(ours) - tolerated):
            yield Finding("daemonsets.tolerations", f"the workers of Node Feature Discovery do not tolerate {name}")


def _taint_keys(tolerations: Any) -> set[str | None]:
    """The keys of a list of tolerations; None stands for all taints."""
    items = tolerations if isinstance(tolerations, list) else []
    return {item.get("key") for item in items if isinstance(item, dict)}


@rule(
    "FG314",
    "a container runtime other than containerd",
    subject=Subject.VALUES,
    why="Flatcar comes with containerd. CRI-O's hooks would go to /usr/share/containers, which is read-only, and "
    "Docker is no runtime of Kubernetes since 1.24.",
    source="gpu-operator TransformToolkit; flatcar/scripts",
    remedy="remove operator.defaultRuntime: the operator finds the runtime out since v1.9.0",
)
def runtime_is_containerd(values: Values) -> Iterator[Finding]:
    runtime = values.given("operator.defaultRuntime")
    if runtime in ("docker", "crio"):
        yield Finding("operator.defaultRuntime", f"{runtime} is not what Flatcar's nodes run")


_UNREAD = {
    ("toolkit.env", "NVIDIA_DRIVER_ROOT"): "the toolkit takes it from what the validator found",
    ("toolkit.env", "CONTAINERD_RUNTIME_CLASS"): "the operator sets it from operator.runtimeClass afterwards",
    ("validator.driver.env", "DRIVER_ROOT"): "nothing in the validator reads it",
}
_READ_WITH_DROP_INS = ("RUNTIME_DROP_IN_CONFIG", "RUNTIME_CONFIG_SOURCE")


@rule(
    "FG315",
    "an environment variable has no effect",
    severity=Severity.WARNING,
    subject=Subject.VALUES,
    why="The component does not read it, or another value takes its place.",
    source="gpu-operator controllers/object_controls.go and cmd/nvidia-validator; nvidia-container-toolkit v1.20.0",
    remedy="remove it",
)
def variables_are_read(values: Values) -> Iterator[Finding]:
    for key in ("toolkit.env", "validator.driver.env"):
        found = values.given(key)
        for index, item in enumerate(found if isinstance(found, list) else []):
            name = item.get("name") if isinstance(item, dict) else None
            reason = _UNREAD.get((key, str(name)))
            if name in _READ_WITH_DROP_INS and not TOOLKIT_WRITES_DROP_IN.holds(values.chart):
                reason = f"it is read since chart {TOOLKIT_WRITES_DROP_IN.since}"
            if reason:
                yield Finding(f"{key}.{index}.name", f"{name} has no effect: {reason}")


@rule(
    "FG316",
    "a combination that the chart's templates refuse",
    subject=Subject.VALUES,
    why="helm install stops with the template's own message.",
    source=_TEMPLATES,
    remedy="leave one of the two out, or give what is missing",
)
def templates_accept_it(values: Values) -> Iterator[Finding]:
    if values.get("gpuCluster.deployCR") and values.get("clusterPolicy.deployCR"):
        yield Finding("gpuCluster.deployCR", "there can be no GPUCluster beside the ClusterPolicy")
    if values.get("gpuCluster.deployCR") and not values.get("driver.nvidiaDriverCRD.enabled"):
        yield Finding("gpuCluster.deployCR", "a GPUCluster needs driver.nvidiaDriverCRD.enabled")
    for component in ("devicePlugin", "migManager"):
        if values.get(f"{component}.config.create") and not values.get(f"{component}.config.name"):
            yield Finding(f"{component}.config.create", f"{component}.config.name is missing")


@rule(
    "FG317",
    "a host driver with the operator's toolkit",
    severity=Severity.WARNING,
    subject=Subject.VALUES,
    why="No published, working values are known for a driver of the node's own with the operator's toolkit on Flatcar; "
    "Flatcar documents both disabled.",
    source="Flatcar documentation, using-nvidia; flatcar/Flatcar#715",
    remedy="bring the toolkit as an extension, too: toolkit.enabled: false (--toolkit sysext)",
)
def host_driver_has_its_toolkit(values: Values) -> Iterator[Finding]:
    if values.get("driver.enabled") is False and values.get("toolkit.enabled") is True:
        yield Finding("driver.enabled", "the operator's toolkit is untested with a driver of the node's own")


@rule(
    "FG318",
    "an unknown version of the chart",
    severity=Severity.WARNING,
    subject=Subject.VALUES,
    why="What its keys and its operator do is taken from the charts around it.",
    source="git tags of NVIDIA/gpu-operator up to v26.7.0",
    remedy="check the version; flatcar-gpu may be older than the chart",
)
def chart_is_known(values: Values) -> Iterator[Finding]:
    chart = values.chart
    if chart > NEWEST:
        yield Finding("operator.chartVersion", f"chart {chart} is newer than {NEWEST}, the newest one known here")
    elif chart.line not in LINES:
        yield Finding("operator.chartVersion", f"no chart {chart.major}.{chart.minor} is known")
