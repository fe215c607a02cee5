"""The plan: a spec with everything decided that it left open. Rules check it, builders build from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flatcar_gpu.chart import ChartVersion
from flatcar_gpu.spec import Arch, Spec, Strategy, Toolkit, UsrLocal

if TYPE_CHECKING:
    from flatcar_gpu.flatcar.capabilities import Capabilities
    from flatcar_gpu.flatcar.index import Release
    from flatcar_gpu.spec import KernelModuleType

# Flatcar's documentation enables this one; it fits every GPU that has a GSP, Turing and later.
DEFAULT_DRIVER_SYSEXT = "nvidia-drivers-570-open"

# gpu-operator chart, values.yaml: toolkit.installDir (settable since chart v22.9.0).
DEFAULT_INSTALL_DIR = "/usr/local/nvidia"

# What the driver container needs: loop to mount Flatcar's developer image, the others as dependencies of the NVIDIA
# module. Source: README of gpu-driver-container's flatcar folder, removed upstream on 2026-04-28.
KERNEL_MODULES = ("loop", "i2c_core", "ipmi_msghandler")

_DEFAULT_TOOLKIT = {
    Strategy.CONTAINER: Toolkit.OPERATOR,
    Strategy.SYSEXT: Toolkit.SYSEXT,
    Strategy.SERVICE: Toolkit.SYSEXT,
    Strategy.NONE: Toolkit.NONE,
}


@dataclass(frozen=True, slots=True)
class Overlay:
    """A writable overlay on /usr/local."""

    upper: str
    work: str


@dataclass(frozen=True, slots=True)
class RuntimeSysext:
    """The nvidia-runtime system extension: what to fetch, and its name as a file on the node."""

    version: str
    url: str
    file_name: str
    hash: str | None


@dataclass(frozen=True, slots=True)
class DriverImage:
    """The image of the operator's driver container. The operator makes its tag from `version` unless it is a digest."""

    repository: str | None
    name: str
    version: str | None
    digest: str | None
    precompiled: bool
    kernel_module_type: KernelModuleType | None
    rdma: bool
    pull_secrets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Toleration:
    """A toleration of a taint: any value where `value` is None, any effect where `effect` is None."""

    key: str
    value: str | None = None
    effect: str | None = None

    @classmethod
    def parse(cls, text: str) -> Toleration:
        """From the words of `kubectl taint`: KEY, KEY:EFFECT or KEY=VALUE:EFFECT."""
        taint, _, effect = text.partition(":")
        key, equals, value = taint.partition("=")
        return cls(key, value if equals else None, effect or None)


@dataclass(frozen=True, slots=True)
class Operator:
    """The gpu-operator chart and what it is told besides driver and toolkit."""

    chart: ChartVersion
    nvidia_driver_crd: bool
    runtime_class: str
    tolerations: tuple[Toleration, ...]
    nri: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """A GPU node with nothing left open. `spec` is what was asked for, for rules that need to know.

    `release` is the node's Flatcar release where one was given, `known` what it can do.
    """

    spec: Spec
    release: Release | None
    known: Capabilities | None
    strategy: Strategy
    driver_version: str | None
    driver_sysext: str | None
    driver_image: DriverImage | None
    toolkit: Toolkit
    install_dir: str | None
    runtime_sysext: RuntimeSysext | None
    overlay: Overlay | None
    modules: tuple[str, ...]
    holds_updates: bool
    operator: Operator

    @property
    def release_name(self) -> str:
        """The version of the node's Flatcar release, empty where none is given."""
        return str(self.release.version) if self.release else ""


def resolve(spec: Spec, release: Release | None = None) -> Plan:
    """Decide what `spec` leaves open, for nodes with `release`. Nothing is looked up and nothing refused here."""
    strategy = spec.driver.strategy
    toolkit = spec.toolkit.provider or _DEFAULT_TOOLKIT[strategy]
    return Plan(
        spec=spec,
        release=release,
        known=_known(release),
        strategy=strategy,
        driver_version=spec.driver.version,
        driver_sysext=(spec.driver.sysext or DEFAULT_DRIVER_SYSEXT) if strategy is Strategy.SYSEXT else None,
        driver_image=_driver_image(spec) if strategy is Strategy.CONTAINER else None,
        toolkit=toolkit,
        install_dir=(spec.toolkit.install_dir or DEFAULT_INSTALL_DIR) if toolkit is Toolkit.OPERATOR else None,
        runtime_sysext=_runtime_sysext(spec) if toolkit is Toolkit.SYSEXT else None,
        overlay=_overlay(spec, toolkit),
        modules=tuple(dict.fromkeys((*KERNEL_MODULES, *spec.modules))),
        holds_updates=spec.updates.hold,
        operator=_operator(spec),
    )


def _known(release: Release | None) -> Capabilities | None:
    if release is None:
        return None
    from flatcar_gpu.flatcar.capabilities import capabilities  # late: its tables are YAML

    return capabilities(release)


def is_below(path: str, folder: str) -> bool:
    """Whether `path` is `folder` or lies in it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _overlay(spec: Spec, toolkit: Toolkit) -> Overlay | None:
    mode = spec.usr_local.mode
    if mode is None:
        installs_outside = spec.toolkit.install_dir is not None and not is_below(spec.toolkit.install_dir, "/usr")
        is_of_use = not installs_outside and toolkit is not Toolkit.SYSEXT
        mode = UsrLocal.OVERLAY if spec.driver.strategy is Strategy.CONTAINER and is_of_use else UsrLocal.NONE
    return Overlay(spec.usr_local.upper, spec.usr_local.work) if mode is UsrLocal.OVERLAY else None


def _driver_image(spec: Spec) -> DriverImage:
    asked = spec.driver
    return DriverImage(
        repository=asked.repository,
        name=asked.image,
        version=asked.version,
        digest=asked.digest,
        precompiled=asked.precompiled,
        kernel_module_type=asked.kernel_module_type,
        rdma=asked.rdma,
        pull_secrets=tuple(dict.fromkeys(asked.image_pull_secrets)),
    )


def _operator(spec: Spec) -> Operator:
    asked = spec.operator
    return Operator(
        chart=ChartVersion.parse(asked.chart_version),
        nvidia_driver_crd=asked.nvidia_driver_crd,
        runtime_class=asked.runtime_class,
        tolerations=tuple(Toleration.parse(taint) for taint in dict.fromkeys(asked.tolerations)),
        nri=asked.nri,
    )


def _runtime_sysext(spec: Spec) -> RuntimeSysext:
    asked = spec.toolkit.runtime_sysext
    version = "v" + asked.version.removeprefix("v")
    arch = "x86-64" if spec.arch is Arch.AMD64 else "arm64"
    # The bakery wrote the name with an underscore until February 2025, when v1.17.5 came.
    word = "nvidia_runtime" if version_numbers(version) < (1, 17) else "nvidia-runtime"
    name = f"{word}-{version}-{arch}.raw"
    return RuntimeSysext(version, asked.url or f"https://extensions.flatcar.org/extensions/{name}", name, asked.hash)


def version_numbers(version: str) -> tuple[int, ...]:
    """`v1.17.9` as (1, 17, 9), to compare."""
    return tuple(int(number) for number in version.removeprefix("v").split("."))
