"""The spec: the one description of GPU nodes from which everything else is made.

Each setting is declared here once. Its command line option, its environment variable, its key in the spec file, the
JSON Schema and the checks of its form all derive from that declaration. `spec_file` reads the YAML file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from flatcar_gpu.forms import (
    CHART_VERSION,
    DIGEST,
    DRIVER_VERSION,
    HASH,
    IMAGE,
    MODULE,
    OBJECT_NAME,
    PATH,
    PLATFORM,
    RELEASE,
    REPOSITORY,
    RUNTIME_VERSION,
    SYSEXT_NAME,
    TAINT,
    URL,
    Form,
)


class Strategy(StrEnum):
    """Who brings the NVIDIA driver."""

    CONTAINER = "container"
    SYSEXT = "sysext"
    SERVICE = "service"
    NONE = "none"


class Toolkit(StrEnum):
    """Who brings the NVIDIA container toolkit."""

    OPERATOR = "operator"
    SYSEXT = "sysext"
    NONE = "none"


class UsrLocal(StrEnum):
    """What makes /usr/local writable."""

    OVERLAY = "overlay"
    NONE = "none"


class Arch(StrEnum):
    AMD64 = "amd64"
    ARM64 = "arm64"


class KernelModuleType(StrEnum):
    """Which flavour of NVIDIA's kernel modules a driver container loads."""

    AUTO = "auto"
    OPEN = "open"
    PROPRIETARY = "proprietary"


class Scope(StrEnum):
    """What a setting is about; a command shows the settings of its scopes, a spec file may hold all."""

    NODE = "node"
    OPERATOR = "operator"
    MONITORING = "monitoring"


def _setting(
    flag: str,
    help: str,
    *,
    default: Any = None,
    form: Form | None = None,
    shown_default: str = "",
    scope: Scope = Scope.NODE,
) -> Any:
    return field(
        default=default,
        metadata={"flag": flag, "help": help, "form": form, "shown_default": shown_default, "scope": scope},
    )


def _section(kind: type) -> Any:
    return field(default_factory=kind)


def key_of(attribute: str) -> str:
    """The spec file's spelling of an attribute: `install_dir` is `installDir`, `driver_crd` is `driverCRD`."""
    head, *tail = attribute.split("_")
    return head + "".join("CRD" if word == "crd" else word.capitalize() for word in tail)


# Read by pydantic, which validates these plain dataclasses when a spec file is loaded.
_STRICT_KEYS = {"extra": "forbid", "alias_generator": key_of}


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverSpec:
    """The NVIDIA driver."""

    __pydantic_config__ = _STRICT_KEYS
    strategy: Strategy = _setting(
        "--driver",
        "Who brings the driver: the operator's driver container, Flatcar's nvidia-drivers extension, "
        "Flatcar's nvidia.service, or none.",
        default=Strategy.CONTAINER,
    )
    version: str | None = _setting(
        "--driver-version",
        "Driver version, e.g. 570.195.03, for nvidia.service and for the driver container.",
        form=DRIVER_VERSION,
    )
    sysext: str | None = _setting(
        "--driver-sysext",
        "Flatcar's driver extension for --driver sysext.",
        form=SYSEXT_NAME,
        shown_default="nvidia-drivers-570-open",
    )
    repository: str | None = _setting(
        "--repository",
        "Registry and path of the driver container's image, e.g. registry.example.com/nvidia.",
        form=REPOSITORY,
        scope=Scope.OPERATOR,
    )
    image: str = _setting(
        "--image",
        "Name of the driver container's image.",
        default="driver",
        form=IMAGE,
        scope=Scope.OPERATOR,
    )
    digest: str | None = _setting(
        "--digest",
        "Pin the image to sha256:HEX; the operator then adds no suffix for the release.",
        form=DIGEST,
        scope=Scope.OPERATOR,
    )
    precompiled: bool = _setting(
        "--precompiled/--no-precompiled",
        "The image holds modules for one kernel, which is then part of its tag.",
        default=False,
        scope=Scope.OPERATOR,
    )
    kernel_module_type: KernelModuleType | None = _setting(
        "--kernel-module-type",
        "Flavour of the kernel modules that the driver container loads.",
        shown_default="the operator's choice",
        scope=Scope.OPERATOR,
    )
    rdma: bool = _setting(
        "--rdma/--no-rdma",
        "Let the driver container load nvidia_peermem for GPUDirect RDMA.",
        default=False,
        scope=Scope.OPERATOR,
    )
    image_pull_secrets: tuple[str, ...] = _setting(
        "--image-pull-secret",
        "Secret of the operator's namespace to pull the driver image with; repeat it or separate by commas.",
        default=(),
        form=OBJECT_NAME,
        scope=Scope.OPERATOR,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class UsrLocalSpec:
    """The writable overlay on /usr/local."""

    __pydantic_config__ = _STRICT_KEYS
    mode: UsrLocal | None = _setting(
        "--usr-local",
        "Make /usr/local writable by an overlay, or leave it.",
        shown_default="overlay for --driver container, unless the toolkit goes outside /usr",
    )
    upper: str = _setting(
        "--usr-local-upper",
        "Directory that takes what is written to the overlay.",
        default="/opt/usr-local-overlay",
        form=PATH,
    )
    work: str = _setting(
        "--usr-local-work",
        "Work directory of the overlay, on the file system of the upper one.",
        default="/opt/usr-local-overlay.wd",
        form=PATH,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeSysextSpec:
    """The nvidia-runtime system extension of Flatcar's sysext bakery."""

    __pydantic_config__ = _STRICT_KEYS
    version: str = _setting(
        "--runtime-sysext-version",
        "Version of the nvidia-runtime extension.",
        default="v1.18.1",
        form=RUNTIME_VERSION,
    )
    hash: str | None = _setting(
        "--runtime-sysext-hash",
        "Its checksum: sha256-HEX or sha512-HEX.",
        form=HASH,
    )
    url: str | None = _setting(
        "--runtime-sysext-url",
        "Where to fetch it instead of extensions.flatcar.org, for mirrors.",
        form=URL,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolkitSpec:
    """The NVIDIA container toolkit."""

    __pydantic_config__ = _STRICT_KEYS
    provider: Toolkit | None = _setting(
        "--toolkit",
        "Who brings the container toolkit: the operator, Flatcar's nvidia-runtime extension, or none.",
        shown_default="operator for --driver container, sysext for sysext and service, else none",
    )
    install_dir: str | None = _setting(
        "--toolkit-install-dir",
        "Where the operator's toolkit is installed on the node.",
        form=PATH,
        shown_default="/usr/local/nvidia",
    )
    runtime_sysext: RuntimeSysextSpec = _section(RuntimeSysextSpec)


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdatesSpec:
    """Flatcar's automatic updates."""

    __pydantic_config__ = _STRICT_KEYS
    hold: bool = _setting(
        "--hold-updates/--no-hold-updates",
        "Keep the node on its release until it is told otherwise (SERVER=disabled).",
        default=False,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorSpec:
    """The NVIDIA GPU Operator and its Helm chart."""

    __pydantic_config__ = _STRICT_KEYS
    chart_version: str = _setting(
        "--chart-version",
        "Version of the gpu-operator chart.",
        default="v26.7.0",
        form=CHART_VERSION,
        scope=Scope.OPERATOR,
    )
    nvidia_driver_crd: bool = _setting(
        "--nvidia-driver-crd/--no-nvidia-driver-crd",
        "Describe drivers by NVIDIADriver resources, so that nodes on several releases each get their image.",
        default=False,
        scope=Scope.OPERATOR,
    )
    runtime_class: str = _setting(
        "--runtime-class",
        "RuntimeClass, and name of the runtime in containerd.",
        default="nvidia",
        form=OBJECT_NAME,
        scope=Scope.OPERATOR,
    )
    tolerations: tuple[str, ...] = _setting(
        "--tolerations",
        "Taint of the GPU nodes besides nvidia.com/gpu:NoSchedule; repeat it or separate by commas.",
        default=(),
        form=TAINT,
        scope=Scope.OPERATOR,
    )
    nri: bool = _setting(
        "--nri/--no-nri",
        "Give GPUs to containers by containerd's NRI instead of a runtime class.",
        default=False,
        scope=Scope.OPERATOR,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class KeplerSpec:
    """Kepler, the energy exporter, with GPU metrics."""

    __pydantic_config__ = _STRICT_KEYS
    enabled: bool = _setting(
        "--kepler/--no-kepler", "Make values for Kepler's chart.", default=False, scope=Scope.MONITORING
    )
    chart_has_nvml: bool = _setting(
        "--kepler-chart-has-nvml/--no-kepler-chart-has-nvml",
        "Kepler's chart copies NVIDIA's library itself; no release up to v0.11.4 does.",
        default=False,
        scope=Scope.MONITORING,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitoringSpec:
    """Monitoring agents on the GPU nodes."""

    __pydantic_config__ = _STRICT_KEYS
    kepler: KeplerSpec = _section(KeplerSpec)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSpec:
    """What a spec says of nodes, for all of them or for those of a pool."""

    __pydantic_config__ = _STRICT_KEYS
    flatcar: str | None = _setting(
        "--flatcar",
        "Flatcar release of the nodes, a version (4593.2.5) or a channel (stable, lts-2024): the node is checked "
        "against what it can do.",
        form=RELEASE,
    )
    platform: str | None = _setting(
        "--platform",
        "Where the nodes run: warn from 75 % of its user-data limit on, fail above it.",
        form=PLATFORM,
    )
    arch: Arch = _setting("--arch", "Architecture of the nodes.", default=Arch.AMD64)
    driver: DriverSpec = _section(DriverSpec)
    toolkit: ToolkitSpec = _section(ToolkitSpec)
    usr_local: UsrLocalSpec = _section(UsrLocalSpec)
    modules: tuple[str, ...] = _setting(
        "--modules",
        "Kernel modules to load besides loop, i2c_core and ipmi_msghandler; repeat it or separate by commas.",
        default=(),
        form=MODULE,
    )
    updates: UpdatesSpec = _section(UpdatesSpec)


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolSpec(NodeSpec):
    """Nodes that are alike. What a pool does not say, the spec says for all pools."""

    name: str
    labels: dict[str, str] = field(default_factory=dict)
    taints: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec(NodeSpec):
    """GPU nodes on Flatcar Container Linux."""

    api_version: Literal["flatcar-gpu/v1"] = "flatcar-gpu/v1"
    operator: OperatorSpec = _section(OperatorSpec)
    monitoring: MonitoringSpec = _section(MonitoringSpec)
    pools: tuple[PoolSpec, ...] = ()
