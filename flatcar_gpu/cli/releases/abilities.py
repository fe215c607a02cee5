"""What a release can do in sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from flatcar_gpu.flatcar.capabilities import ALL_PLATFORMS, ConfigOverride, MergePlace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from flatcar_gpu.flatcar.capabilities import Capabilities, Fact

T = TypeVar("T")

NOT_FOUND = "not found"

_PLATFORM_NAMES = {
    "azure-pro": "the Azure Pro images",
    "aws-pro": "the AWS Pro images",
    "azure": "Azure",
    "aws": "AWS",
    ALL_PLATFORMS: "all platforms",
}


@dataclass(frozen=True, slots=True)
class Ability:
    """One line: what it is about, and what is so."""

    about: str
    says: str
    source: str
    inferred: bool


def abilities(can: Capabilities) -> Iterator[Ability]:
    """What `can` holds, a line a fact; what is usual and of no consequence is left out."""
    if can.kernel_at_tag:
        yield _line("", can.kernel_at_tag, lambda kernel: f"doubtful: its tag has the kernel ebuild {kernel}")
    yield from _provisioning(can)
    yield from _system(can)
    yield from _nvidia(can)
    yield from _kernel(can)


def _line(about: str, fact: Fact[T], words: Callable[[T], str]) -> Ability:
    return Ability(about, words(fact.value), fact.source, fact.inferred)


def _provisioning(can: Capabilities) -> Iterator[Ability]:
    yield _line("Ignition", can.ignition, lambda version: version or NOT_FOUND)
    yield _line("", can.ignition_spec, _spec)
    yield _line("Butane", can.butane_versions, _butane)


def _spec(spec: str | None) -> str:
    return f"configs up to spec {spec}" if spec else "Ignition 3.x is not accepted: configs of spec 2.x only"


def _butane(versions: tuple[str, ...]) -> str:
    if not versions:
        return "no version of the flatcar variant: it is translated to Ignition 3.x"
    return f"variant flatcar, version {' or '.join(versions)}"


def _system(can: Capabilities) -> Iterator[Ability]:
    yield _line("systemd", can.systemd, lambda major: str(major) if major else NOT_FOUND)
    yield _line("sysext", can.sysext_merge, lambda place: _merge(place, can.sysext_always_merges.value))
    yield _line(
        "", can.kernel_module_sysexts_coexist, lambda yes: f"two with kernel modules {_can(yes)} be loaded together"
    )
    yield _line("", can.sysext_mirror_is_settable, lambda yes: f"Flatcar's own {_can(yes)} be fetched from a mirror")
    yield _line("", can.early_mounts_are_hidden, _early_mounts)
    if can.nested_mounts_break_merge.value:
        yield _line("", can.nested_mounts_break_merge, lambda _: "a mount within such a mount breaks the merge")
    yield _line("", can.systemd_knows_upheld_by, lambda yes: f"UpheldBy= in [Install] is {_known(yes)}")
    yield _line("", can.systemd_knows_upholds, lambda yes: f"Upholds= in [Unit] is {_known(yes)}")
    yield _line("containerd", can.containerd_major, lambda major: f"major version {major}" if major else NOT_FOUND)
    yield _line("", can.containerd_config, _override)
    yield _line("torcx", can.torcx, lambda yes: "in use" if yes else "removed")


def _early_mounts(hidden: bool) -> str:
    return f"mounts under /usr or /opt made before the merge are {'hidden by it' if hidden else 'kept'}"


def _can(yes: bool) -> str:
    return "can" if yes else "cannot"


def _known(yes: bool) -> str:
    return "known" if yes else "ignored"


def _merge(place: MergePlace, always: bool) -> str:
    if place is MergePlace.NONE:
        return "extensions are not merged by default"
    when = "always" if always else "when there is an extension"
    return f"merged over /usr {when}, in the {place}"


def _override(override: ConfigOverride) -> str:
    if override is ConfigOverride.ENVIRONMENT:
        return "another config file: a drop-in with Environment=CONTAINERD_CONFIG=FILE"
    return "another config file: a drop-in that clears ExecStart= and gives it anew"


def _nvidia(can: Capabilities) -> Iterator[Ability]:
    on = " and ".join(can.nvidia_service_architectures.value)
    yield _line("nvidia.service", can.nvidia_service_platforms, lambda names: _platforms(names, on))
    if can.nvidia_service_platforms.value:
        yield _line("", can.nvidia_service_drivers, _service_drivers)
        if can.nvidia_service_driver_is_withdrawn.value:
            yield _line("", can.nvidia_service_driver_is_withdrawn, lambda _: "NVIDIA withdrew it: set another")
        if can.nvidia_service_yields_to_sysext.value:
            yield _line("", can.nvidia_service_yields_to_sysext, lambda _: "leaves the driver to an NVIDIA sysext")
    yield _line("NVIDIA sysext", can.nvidia_sysexts, lambda names: ", ".join(names) or "none is built")
    if can.nvidia_sysexts.value:
        yield _line("", can.nvidia_sysext_drivers, _sysext_drivers)
    for broken in can.broken_drivers:
        which = f"before {broken.fixed_in}" if broken.fixed_in else "all"
        says = f"branch {broken.branch} ({which}) does not build: {broken.why}; Flatcar's sysexts are patched"
        yield Ability("broken driver", says, broken.source, broken.inferred)


def _platforms(platforms: tuple[str, ...], architectures: str) -> str:
    if not platforms:
        return "not there"
    return f"on {' and '.join(_PLATFORM_NAMES[name] for name in platforms)}, for {architectures}"


def _service_drivers(drivers: Mapping[str, str] | None) -> str:
    if drivers is None:
        return f"default driver {NOT_FOUND}"
    return "default driver " + ", ".join(f"{version} on {arch}" for arch, version in drivers.items())


def _sysext_drivers(drivers: Mapping[str, str]) -> str:
    versions = dict.fromkeys(drivers.values())
    return "with the drivers " + ", ".join(versions) + ", for amd64 only"


def _kernel(can: Capabilities) -> Iterator[Ability]:
    """The kernel options, those that are known alike on one line."""
    words = {"y": "built in", "m": "modules", "n": "not set", None: NOT_FOUND}
    alike: dict[Fact[str | None], list[str]] = {}
    for name, fact in can.kernel_options.items():
        alike.setdefault(fact, []).append(name)
    about = "kernel options"
    for fact, names in alike.items():
        yield _line(about, fact, lambda value, names=names: f"{words[value]}: {', '.join(names)}")  # type: ignore[misc]
        about = ""
