"""The spec: the one description of GPU nodes from which everything else is made.

Each setting is declared here once. Its command line option, its environment variable, its key in the spec file, the
JSON Schema and the checks of its form all derive from that declaration. `spec_file` reads the YAML file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields, is_dataclass, replace
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

from flatcar_gpu.platforms import PLATFORMS
from flatcar_gpu.report import Problem, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


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


@dataclass(frozen=True, slots=True)
class Form:
    """What a text must look like, and how to say so."""

    pattern: str
    expected: str

    def fits(self, text: str) -> bool:
        return re.fullmatch(self.pattern, text) is not None


PATH = Form(
    r"/|(/(?!\.{1,2}(/|$))[A-Za-z0-9._@+-]+)+", "an absolute path without `.`, `..`, `//`, blanks or a `/` at its end"
)
RELEASE = Form(r"\d+\.\d+\.\d+|[a-z]+(-\d{4})?", "a Flatcar version such as 4593.2.5 or a channel such as stable")
PLATFORM = Form("|".join(PLATFORMS), f"one of {', '.join(PLATFORMS)}")
DRIVER_VERSION = Form(r"\d{3,}(\.\d{1,3}){0,2}", "a driver version such as 570.195.03, or a branch such as 570")
MODULE = Form(r"[A-Za-z0-9_-]+", "the name of a kernel module")
SYSEXT_NAME = Form(r"[a-z0-9][a-z0-9-]*", "the name of a Flatcar extension such as nvidia-drivers-570-open")
RUNTIME_VERSION = Form(r"v?\d+\.\d+\.\d+", "a version such as v1.18.1")
HASH = Form(r"sha256-[0-9a-f]{64}|sha512-[0-9a-f]{128}", "sha256- and 64, or sha512- and 128 hexadecimal digits")
URL = Form(r"https?://[^\s/]+/\S*", "an http or https URL")
REPOSITORY = Form(
    r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d+)?(/[a-z0-9]+([._-]+[a-z0-9]+)*)*",
    "a registry and path such as registry.example.com/nvidia, without the image's name",
)
IMAGE = Form(r"[a-z0-9]+([._-]+[a-z0-9]+)*", "the image's name such as driver, without repository and tag")
DIGEST = Form(r"sha256:[0-9a-f]{64}", "sha256: and 64 hexadecimal digits")
OBJECT_NAME = Form(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?", "the name of a Kubernetes object")
CHART_VERSION = Form(r"v?\d+\.\d+\.\d+", "a version of the gpu-operator chart such as v26.7.0")
TAINT = Form(
    r"[A-Za-z0-9]([A-Za-z0-9./_-]*[A-Za-z0-9])?(=[A-Za-z0-9._-]*)?(:(NoSchedule|PreferNoSchedule|NoExecute))?",
    "a taint: KEY, KEY:EFFECT or KEY=VALUE:EFFECT, the effect being NoSchedule, PreferNoSchedule or NoExecute",
)


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


@dataclass(frozen=True, slots=True)
class Setting:
    """One declared setting: where it is in the spec (`toolkit.installDir`), and how it is given as a flag."""

    key: str
    attributes: tuple[str, ...]
    flag: str
    help: str
    kind: type
    default: Any
    form: Form | None
    shown_default: str
    scope: Scope

    @property
    def option(self) -> str:
        """The flag as a variable: `driver_version`."""
        return self.flag.split("/")[0].removeprefix("--").replace("-", "_")

    @property
    def choices(self) -> list[str]:
        """The words it may be, where it is one of a closed set."""
        return [str(choice) for choice in self.kind] if issubclass(self.kind, StrEnum) else []

    def value_in(self, spec: Spec) -> Any:
        value: Any = spec
        for attribute in self.attributes:
            value = getattr(value, attribute)
        return value


@cache
def settings() -> Mapping[str, Setting]:
    """All settings by key, in order of declaration."""
    return {setting.key: setting for setting in _settings_of(Spec, ())}


def _settings_of(section: Any, above: tuple[str, ...]) -> Iterator[Setting]:
    hints = get_type_hints(section)
    for item in fields(section):
        attributes = (*above, item.name)
        hint = hints[item.name]
        if isinstance(hint, type) and is_dataclass(hint):
            yield from _settings_of(hint, attributes)
        elif item.metadata:
            key = ".".join(key_of(attribute) for attribute in attributes)
            yield Setting(key, attributes, kind=_kind(hint), default=item.default, **item.metadata)


def _kind(hint: Any) -> type:
    """The plain type of an annotation: `Arch | None` is Arch, `tuple[str, ...]` is tuple."""
    if get_origin(hint) is tuple:
        return tuple
    kind: type = next((kind for kind in get_args(hint) if kind is not type(None)), hint)
    return kind


def listed(text: str) -> tuple[str, ...]:
    """The items of a list that is given as one text, parted by commas."""
    return tuple(item for item in text.split(",") if item)


def with_values(spec: Spec, values: Mapping[str, Any]) -> Spec:
    """`spec` with the settings in `values` (by key) replaced."""
    for key, value in values.items():
        spec = _replaced(spec, settings()[key].attributes, value)
    return spec


def _replaced(section: Any, attributes: tuple[str, ...], value: Any) -> Any:
    name, *below = attributes
    return replace(section, **{name: _replaced(getattr(section, name), tuple(below), value) if below else value})


def form_problems(spec: Spec) -> Iterator[Problem]:
    """Values that do not have the form that their setting declares."""
    for setting in settings().values():
        value = setting.value_in(spec)
        if setting.form is None or value is None:
            continue
        items = [(setting.key, value)] if isinstance(value, str) else _indexed(setting.key, value)
        for key, text in items:
            if not setting.form.fits(text):
                yield Problem(Severity.ERROR, f"{text!r} is not {setting.form.expected}", path=key)


def _indexed(key: str, values: tuple[str, ...]) -> list[tuple[str, str]]:
    return [(f"{key}.{index}", value) for index, value in enumerate(values)]
