"""Rules about what the node's Flatcar release can do. They say nothing where no release is given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flatcar_gpu.report import Severity
from flatcar_gpu.rules.registry import Finding, config_rule, rule
from flatcar_gpu.spec import Arch, Strategy, Toolkit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flatcar_gpu.flatcar.capabilities import BrokenDriver
    from flatcar_gpu.plan import Plan


@config_rule(
    "FG201",
    "the release does not take this Ignition config",
    why="Ignition refuses a config of a newer specification than it knows, and the first boot ends in emergency.target "
    "(before 3005.0.0 in a loop).",
    source="Ignition version in the release index; coreos/ignition docs/release-notes.md",
    remedy="use a release from 3185.0.0 on, or the Butane version that the release takes "
    "(`flatcar-gpu releases show VERSION`)",
)
def release_takes_the_ignition_spec(plan: Plan, config: dict[str, Any]) -> Iterator[Finding]:
    if plan.known is None:
        return
    spec, version = plan.known.ignition_spec.value, str(config["ignition"]["version"])
    takes = f"Ignition {plan.known.ignition.value}"
    if spec is None:
        yield Finding("flatcar", f"Flatcar {plan.release_name} ({takes}) takes no Ignition 3 config")
    elif _numbers(version) > _numbers(spec):
        yield Finding("flatcar", f"Flatcar {plan.release_name} ({takes}) takes at most {spec}, the config is {version}")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in version.partition("-")[0].split("."))


@rule(
    "FG202",
    "no driver extension for this release",
    why="An extension that cannot be fetched for the node's release stops the boot in emergency.target. No LTS has "
    "driver extensions, nor has a release before 4344.0.0.",
    source="flatcar/scripts build_library/extra_sysexts.sh; flatcar/Flatcar#1962",
    remedy="use --driver container, or a release from 4344.0.0 on that is not LTS",
)
def release_has_driver_sysexts(plan: Plan) -> Iterator[Finding]:
    if plan.strategy is Strategy.SYSEXT and plan.known and not plan.known.nvidia_sysexts.value:
        channel = f" ({plan.release.channel})" if plan.release and plan.release.channel else ""
        yield Finding("driver.strategy", f"Flatcar {plan.release_name}{channel} has no NVIDIA driver extension")


@rule(
    "FG203",
    "the release has no nvidia.service for this node",
    why="Without the service nothing builds a driver: the node boots without one.",
    source="Flatcar documentation, using-nvidia; flatcar/scripts tags; flatcar/Flatcar#1162",
    remedy="use a release from 3637.0.0 on (arm64: 4230.1.0), or --driver container",
)
def release_has_nvidia_service(plan: Plan) -> Iterator[Finding]:
    if plan.strategy is not Strategy.SERVICE or plan.known is None:
        return
    platforms = plan.known.nvidia_service_platforms.value
    architectures = plan.known.nvidia_service_architectures.value
    if not platforms or plan.spec.arch not in architectures:
        says = f"Flatcar {plan.release_name} has no nvidia.service for {plan.spec.arch}"
        yield Finding("driver.strategy", says)
    elif "all" not in platforms:
        says = f"Flatcar {plan.release_name} has nvidia.service on {', '.join(platforms)} only"
        yield Finding("driver.strategy", says, severity=Severity.WARNING)


@rule(
    "FG204",
    "the release is not built for this architecture",
    why="There is no image to boot.",
    source="architectures in the release index",
    remedy="choose another --arch or another release",
)
def release_has_the_architecture(plan: Plan) -> Iterator[Finding]:
    if plan.release and plan.release.architectures and plan.spec.arch not in plan.release.architectures:
        says = f"Flatcar {plan.release_name} is built for {', '.join(plan.release.architectures)} only"
        yield Finding("arch", says)


@rule(
    "FG205",
    "the driver does not build against the release's kernel",
    why="The kernel changed an interface that the driver uses, so that compiling its modules fails. Flatcar's own "
    "driver extensions are patched; NVIDIA's installer, which nvidia.service and driver containers take, is not. That "
    "they fail is inferred from that, not seen on a node.",
    source="flatcar/scripts#4154, #4205, #4207",
    remedy="use a driver branch that NVIDIA fixed (580.126.09 and later), a release with an older kernel, or "
    "--driver sysext",
)
def driver_builds_against_the_kernel(plan: Plan) -> Iterator[Finding]:
    version = plan.driver_version
    if plan.strategy is Strategy.SERVICE and version is None and plan.known:
        version = (plan.known.nvidia_service_drivers.value or {}).get(str(plan.spec.arch))
    if version is None or plan.strategy not in (Strategy.SERVICE, Strategy.CONTAINER):
        return
    for broken in _broken(plan, version):
        # A driver image of one's own may carry the patch.
        severity = Severity.WARNING if plan.strategy is Strategy.CONTAINER else Severity.ERROR
        says = f"driver {version} does not build against kernel {_kernel(plan)} ({broken.why})"
        yield Finding("driver.version", says, severity=severity)


def _broken(plan: Plan, version: str) -> Iterator[BrokenDriver]:
    if plan.known:
        yield from (broken for broken in plan.known.broken_drivers if broken.includes(version))


def _kernel(plan: Plan) -> str:
    return str(plan.release.kernel) if plan.release else "unknown"


@rule(
    "FG206",
    "updates are not held while driver images are made per release",
    severity=Severity.WARNING,
    why="The operator pulls VERSION-flatcarRELEASE. A node that updates itself asks for an image that may not be "
    "there, and has no driver until someone builds it.",
    source="gpu-operator internal/state/nodepool.go, getOSTag; flatcar-website, update strategies",
    remedy="use --hold-updates, and build the next release's image before `flatcar-update`",
)
def updates_wait_for_driver_images(plan: Plan) -> Iterator[Finding]:
    if plan.strategy is Strategy.CONTAINER and plan.release and not plan.holds_updates:
        yield Finding("updates.hold", f"the node leaves Flatcar {plan.release_name} at the next update of its channel")


@rule(
    "FG207",
    "the default driver of nvidia.service was withdrawn",
    why="nvidia.service downloads it from NVIDIA's server, which has it no more: the service fails.",
    source="flatcar/Flatcar#1006; flatcar/scripts PR 738",
    remedy="name another with --driver-version, e.g. 535.309.01",
)
def default_driver_can_be_downloaded(plan: Plan) -> Iterator[Finding]:
    if plan.strategy is Strategy.SERVICE and plan.driver_version is None and plan.known:
        drivers = plan.known.nvidia_service_drivers.value or {}
        if plan.known.nvidia_service_driver_is_withdrawn.value:
            named = drivers.get(str(plan.spec.arch), "")
            yield Finding("driver.version", f"Flatcar {plan.release_name} would download driver {named}")


@rule(
    "FG208",
    "containerd of the torcx era",
    severity=Severity.WARNING,
    why="Until 3794.0.0 containerd came through torcx, with its files in another place. The drop-in resets ExecStart= "
    "as Flatcar documents it, but the config that it imports was not seen there (not run on such a node).",
    source="flatcar/scripts containerd.service before 3794.0.0; Flatcar documentation, customizing docker",
    remedy="use a release from 3815.2.0 on, or write /etc/containerd/config.toml yourself",
)
def containerd_is_no_torcx(plan: Plan) -> Iterator[Finding]:
    if plan.toolkit is Toolkit.OPERATOR and plan.known and plan.known.torcx.value:
        yield Finding("toolkit.provider", f"Flatcar {plan.release_name} runs containerd through torcx")


@rule(
    "FG209",
    "the overlay cannot be held up",
    why="systemd knows Upholds= since version 249. Without it nothing mounts the overlay again after system extensions "
    "are merged anew.",
    source="systemd NEWS, version 249",
    remedy="use a newer release, or --toolkit-install-dir /opt/nvidia",
)
def overlay_is_held_up(plan: Plan) -> Iterator[Finding]:
    if plan.overlay and plan.known and not plan.known.systemd_knows_upholds.value:
        yield Finding("usrLocal.mode", f"systemd {plan.known.systemd.value} does not know Upholds=")


@rule(
    "FG210",
    "unsigned driver modules under Secure Boot",
    severity=Severity.INFO,
    why="The kernel locks down under Secure Boot since 4116.0.0 and refuses modules without a signature that it "
    "trusts; what nvidia.service builds has none.",
    source="flatcar/scripts kernel config, LOCK_DOWN_IN_EFI_SECURE_BOOT; setup-nvidia",
    remedy="turn Secure Boot off for such nodes, or use --driver sysext",
)
def modules_load_under_secure_boot(plan: Plan) -> Iterator[Finding]:
    option = plan.known.kernel_options.get("LOCK_DOWN_IN_EFI_SECURE_BOOT") if plan.known else None
    if plan.strategy is Strategy.SERVICE and option and option.value == "y":
        yield Finding("driver.strategy", f"Flatcar {plan.release_name} refuses unsigned modules under Secure Boot")


@rule(
    "FG211",
    "the release index and the release's sources disagree on the kernel",
    severity=Severity.WARNING,
    why="Which kernel the release ships was not found. An image with precompiled modules may be for the wrong one.",
    source="release index against flatcar/scripts tags",
    remedy="look at flatcar_production_image_packages.txt of the release, or at `uname -r` on a node",
)
def kernel_is_certain(plan: Plan) -> Iterator[Finding]:
    if plan.known and plan.known.kernel_at_tag and plan.strategy is Strategy.CONTAINER:
        says = f"the index says kernel {_kernel(plan)}, the release's tag {plan.known.kernel_at_tag.value}"
        yield Finding("flatcar", says)


@rule(
    "FG212",
    "arm64 before Flatcar supports its GPUs",
    severity=Severity.WARNING,
    why="NVIDIA's last driver container with Flatcar support is for amd64 only; an image for arm64 has to be your own.",
    source="gpu-driver-container flatcar/Dockerfile at its last commit: NVIDIA-Linux-x86_64",
    remedy="build an image of your own, or use --driver service (arm64 since 4230.1.0)",
)
def driver_container_has_the_architecture(plan: Plan) -> Iterator[Finding]:
    if plan.strategy is Strategy.CONTAINER and plan.spec.arch is Arch.ARM64:
        yield Finding("arch", "no driver container for Flatcar on arm64 is known")
