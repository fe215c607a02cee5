"""Rules about who brings the driver."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flatcar_gpu.report import Severity
from flatcar_gpu.rules.registry import Finding, rule
from flatcar_gpu.spec import Arch, Strategy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flatcar_gpu.plan import Plan

# flatcar/scripts build_library/extra_sysexts.sh; the same set in every release from 4344.0.0 on.
OFFICIAL_DRIVER_SYSEXTS = tuple(
    f"nvidia-drivers-{branch}{flavour}" for branch in ("535", "550", "570") for flavour in ("", "-open")
)


@rule(
    "FG101",
    "unknown driver extension",
    why="A name in /etc/flatcar/enabled-sysext.conf that cannot be fetched stops the boot in emergency.target.",
    source="flatcar/scripts build_library/extra_sysexts.sh; bootengine initrd-setup-root-after-ignition; "
    "flatcar/Flatcar#1962",
    remedy="name one of " + ", ".join(OFFICIAL_DRIVER_SYSEXTS),
)
def driver_sysext_is_official(plan: Plan) -> Iterator[Finding]:
    name = plan.driver_sysext
    if name is not None and name not in OFFICIAL_DRIVER_SYSEXTS:
        yield Finding("driver.sysext", f"{name} is not a driver extension that Flatcar builds")


@rule(
    "FG102",
    "driver extensions exist for amd64 only",
    why="The extension cannot be fetched on arm64, and a missing one stops the boot in emergency.target.",
    source="flatcar/scripts build_library/extra_sysexts.sh, last field",
    remedy="--driver service (arm64 since 4230.1.0), or --driver container with an image of your own",
)
def driver_sysext_has_the_architecture(plan: Plan) -> Iterator[Finding]:
    if plan.strategy is Strategy.SYSEXT and plan.spec.arch is not Arch.AMD64:
        yield Finding("arch", f"Flatcar builds no NVIDIA driver extension for {plan.spec.arch}")


@rule(
    "FG103",
    "a driver extension comes with its driver version",
    why="Which driver version an nvidia-drivers extension holds is decided by the Flatcar release.",
    source="flatcar/scripts, nvidia-drivers ebuilds at the release's tag; flatcar/Flatcar#1962",
    remedy="leave the version out and choose a branch with --driver-sysext, or use --driver container or service",
)
def driver_sysext_takes_no_version(plan: Plan) -> Iterator[Finding]:
    if plan.strategy is Strategy.SYSEXT and plan.driver_version is not None:
        yield Finding("driver.version", f"{plan.driver_version} cannot be had from {plan.driver_sysext}")


@rule(
    "FG104",
    "a driver setting has no effect",
    severity=Severity.WARNING,
    why="The setting belongs to another driver strategy, so the node is made without it.",
    source="how flatcar-gpu builds a node",
    remedy="leave the setting out, or choose the strategy that it belongs to",
)
def driver_settings_have_effect(plan: Plan) -> Iterator[Finding]:
    if plan.spec.driver.sysext is not None and plan.strategy is not Strategy.SYSEXT:
        yield Finding("driver.sysext", f"{plan.spec.driver.sysext} is not used with the strategy {plan.strategy}")
    if plan.driver_version is not None and plan.strategy is Strategy.NONE:
        yield Finding("driver.version", f"{plan.driver_version} is not used with the strategy none")


@rule(
    "FG105",
    "nvidia.service needs a whole driver version",
    why="It downloads the installer of exactly that version; there is none of a branch such as 570.",
    source="flatcar/scripts setup-nvidia, the download's URL",
    remedy="give the whole version, e.g. --driver-version 570.195.03",
)
def service_has_a_whole_version(plan: Plan) -> Iterator[Finding]:
    version = plan.driver_version
    if plan.strategy is Strategy.SERVICE and version is not None and "." not in version:
        yield Finding("driver.version", f"{version} is a branch, not a version")
