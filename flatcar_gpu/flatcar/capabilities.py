"""What a Flatcar release can do, each fact with its source."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Generic, TypeVar

from flatcar_gpu.errors import Failure
from flatcar_gpu.flatcar.tables import Row, counting_row, row_at, tables
from flatcar_gpu.flatcar.version import numbers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flatcar_gpu.flatcar.index import Release

T = TypeVar("T")

INDEX_SOURCE = "release index, www.flatcar.org"

ALL_PLATFORMS = "all"


class MergePlace(StrEnum):
    """Where systemd-sysext lays system extensions over /usr."""

    NONE = "none"
    REAL_ROOT = "real root"
    INITRD = "initrd"


class ConfigOverride(StrEnum):
    """How a drop-in makes containerd read another config file."""

    ENVIRONMENT = "environment"
    """`Environment=CONTAINERD_CONFIG=FILE` is enough."""
    EXEC_START = "exec-start"
    """ExecStart= has to be cleared and given anew: the unit puts a torcx folder before CONTAINERD_CONFIG."""


@dataclass(frozen=True, slots=True)
class Fact(Generic[T]):
    """Something known, and from where. `inferred`: it follows from what is known, and nobody looked."""

    value: T
    source: str
    inferred: bool = False


@dataclass(frozen=True, slots=True)
class BrokenDriver:
    """NVIDIA drivers that do not build against the release's kernel: those of a branch, before `fixed_in` (None: all).

    Flatcar's own nvidia-drivers extensions are patched and not meant.
    """

    branch: str
    fixed_in: str | None
    why: str
    source: str
    inferred: bool

    def includes(self, driver_version: str) -> bool:
        """Whether that driver is one of them. Raises Failure where it is no dotted number."""
        branch, *_ = driver_version.split(".")
        return branch == self.branch and (self.fixed_in is None or numbers(driver_version) < numbers(self.fixed_in))


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What one release can do. A value of None is "not found".

    `ignition_spec` is the highest 3.x spec that its Ignition takes, None where it takes none. `butane_versions` are
    those of `variant: flatcar` it takes, lowest first. Mounts are those under /usr or /opt that are made before the
    extensions are merged. The NVIDIA extensions are for amd64 alone; their drivers are by extension, those of
    nvidia.service by architecture. `kernel_options` are y, m, n by name without CONFIG_.
    """

    ignition: Fact[str | None]
    ignition_spec: Fact[str | None]
    butane_versions: Fact[tuple[str, ...]]
    systemd: Fact[int | None]
    systemd_knows_upholds: Fact[bool]
    systemd_knows_upheld_by: Fact[bool]
    early_mounts_are_hidden: Fact[bool]
    nested_mounts_break_merge: Fact[bool]
    sysext_merge: Fact[MergePlace]
    sysext_always_merges: Fact[bool]
    kernel_module_sysexts_coexist: Fact[bool]
    sysext_mirror_is_settable: Fact[bool]
    torcx: Fact[bool]
    containerd_major: Fact[int | None]
    containerd_config: Fact[ConfigOverride]
    nvidia_service_platforms: Fact[tuple[str, ...]]
    nvidia_service_architectures: Fact[tuple[str, ...]]
    nvidia_service_drivers: Fact[Mapping[str, str] | None]
    nvidia_service_driver_is_withdrawn: Fact[bool]
    nvidia_service_yields_to_sysext: Fact[bool]
    nvidia_sysexts: Fact[tuple[str, ...]]
    nvidia_sysext_drivers: Fact[Mapping[str, str]]
    kernel_options: Mapping[str, Fact[str | None]]
    kernel_at_tag: Fact[str] | None
    """Another kernel than the index names, where the release's tag has one."""
    broken_drivers: tuple[BrokenDriver, ...]

    @property
    def butane_version(self) -> str | None:
        """The Butane version to write unless a config needs a newer one; None where no 3.x config is taken."""
        return next(iter(self.butane_versions.value), None)


def capabilities(release: Release) -> Capabilities:
    """What `release` can do: from its row in the index where that says it, else from the tables by version."""
    version = str(release.version)
    ignition, systemd, containerd_major = _software(release)
    spec = row_at("ignition_specs", ignition.value or "0.0.0")
    butane = row_at("butane_versions", spec["spec"] or "0.0.0")
    at_systemd = str(systemd.value or 0)
    upholds = row_at("systemd_upholds", at_systemd)
    upheld_by = row_at("systemd_upheld_by", at_systemd)
    mounts = row_at("early_mounts", at_systemd)
    merge = row_at("sysext_merge", version)
    modules = row_at("kernel_module_sysexts", version)
    mirror = row_at("sysext_mirror", version)
    containerd = row_at("containerd_config", version)
    service = row_at("nvidia_service", version)
    service_drivers = row_at("nvidia_service_drivers", version)
    yields = row_at("nvidia_service_yields", version)
    sysexts = _nvidia_sysexts(release)
    return Capabilities(
        ignition=ignition,
        ignition_spec=_fact(spec, spec["spec"]),
        butane_versions=_fact(butane, tuple(butane["versions"])),
        systemd=systemd,
        systemd_knows_upholds=_fact(upholds, upholds["known"]),
        systemd_knows_upheld_by=_fact(upheld_by, upheld_by["known"]),
        early_mounts_are_hidden=_fact(mounts, mounts["hidden"]),
        nested_mounts_break_merge=_fact(mounts, mounts["nested_break_merge"]),
        sysext_merge=_fact(merge, MergePlace(merge["place"])),
        sysext_always_merges=_fact(merge, merge["always"]),
        kernel_module_sysexts_coexist=_fact(modules, modules["coexist"]),
        sysext_mirror_is_settable=_fact(mirror, mirror["settable"]),
        torcx=_fact(containerd, containerd["torcx"]),
        containerd_major=containerd_major,
        containerd_config=_fact(containerd, ConfigOverride(containerd["override"])),
        nvidia_service_platforms=_fact(service, tuple(service["platforms"])),
        nvidia_service_architectures=_fact(service, tuple(service["architectures"])),
        nvidia_service_drivers=_fact(service_drivers, service_drivers["drivers"]),
        nvidia_service_driver_is_withdrawn=_fact(service_drivers, service_drivers.get("withdrawn", False)),
        nvidia_service_yields_to_sysext=_fact(yields, yields["yields"]),
        nvidia_sysexts=sysexts,
        nvidia_sysext_drivers=_nvidia_sysext_drivers(version, sysexts.value),
        kernel_options=_kernel_options(version),
        kernel_at_tag=_kernel_at_tag(version),
        broken_drivers=_broken_drivers(release.kernel),
    )


def _fact(row: Row, value: T) -> Fact[T]:
    return Fact(value, row["source"], row["inferred"])


def _software(release: Release) -> tuple[Fact[str | None], Fact[int | None], Fact[int | None]]:
    """Ignition, and the major numbers of systemd and containerd."""
    row = row_at("software", str(release.version))

    def listed(text: str | None, usual: str | None) -> Fact[str | None]:
        return Fact(text, INDEX_SOURCE) if _is_dotted(text) else Fact(usual, row["source"], inferred=True)

    def major(fact: Fact[str | None]) -> Fact[int | None]:
        return Fact(numbers(fact.value)[0] if fact.value else None, fact.source, fact.inferred)

    return (
        listed(release.ignition, row["ignition"]),
        major(listed(release.systemd, row["systemd"])),
        major(listed(release.containerd, row["containerd"])),
    )


def _is_dotted(text: str | None) -> bool:
    try:
        return bool(numbers(text or ""))
    except Failure:
        return False


def _nvidia_sysexts(release: Release) -> Fact[tuple[str, ...]]:
    row = row_at("nvidia_sysexts", str(release.version))
    names = tuple(f"nvidia-drivers-{branch}{flavour}" for branch in row["branches"] for flavour in ("", "-open"))
    if names and release.channel == "lts":
        return Fact((), "flatcar/Flatcar#1962: no LTS had them; of this one it is not known", inferred=True)
    return _fact(row, names)


def _nvidia_sysext_drivers(version: str, names: tuple[str, ...]) -> Fact[Mapping[str, str]]:
    row = row_at("nvidia_sysext_drivers", version)
    of_branch = row["drivers"]
    return _fact(row, {name: of_branch[name.split("-")[2]] for name in names})


def _kernel_options(version: str) -> Mapping[str, Fact[str | None]]:
    table = tables()["kernel_options"]
    found = {name: counting_row(rows, version, table["read_until"]) for name, rows in table["options"].items()}
    return {name: _fact(row, row["value"]) for name, row in found.items()}


def _kernel_at_tag(version: str) -> Fact[str] | None:
    for row in tables()["kernel_doubts"]:
        if row["version"] == version:
            return Fact(row["tag_kernel"], row["source"])
    return None


def _broken_drivers(kernel: str | None) -> tuple[BrokenDriver, ...]:
    if kernel is None or not _is_dotted(kernel):
        return ()
    return tuple(
        BrokenDriver(row["branch"], row["fixed_in"], row["why"], row["source"], row.get("inferred", False))
        for row in tables()["broken_drivers"]
        if numbers(row["kernel_from"]) <= numbers(kernel) < numbers(row["kernel_before"])
    )
