"""Rules about who brings the container toolkit, and where it goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flatcar_gpu.plan import is_below, version_numbers
from flatcar_gpu.report import Severity
from flatcar_gpu.rules.registry import Finding, rule
from flatcar_gpu.spec import RuntimeSysextSpec, Strategy, Toolkit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flatcar_gpu.plan import Plan

USR_IS_READ_ONLY = "flatcar-website and flatcar/scripts: /usr is a dm-verity partition, mounted read-only"


@rule(
    "FG111",
    "the toolkit's install directory is read-only",
    why="/usr is read-only on Flatcar, so the operator's toolkit pod fails when it creates its files there. "
    "An overlay makes /usr/local writable, nothing else below /usr.",
    source=f"{USR_IS_READ_ONLY}; NVIDIA/gpu-operator#575",
    remedy="use --toolkit-install-dir /opt/nvidia, and the same toolkit.installDir in the operator's Helm values",
)
def install_dir_can_be_made_writable(plan: Plan) -> Iterator[Finding]:
    path = plan.install_dir
    if path is None or not is_below(path, "/usr"):
        return
    if not is_below(path, "/usr/local"):
        yield Finding("toolkit.installDir", f"{path} is below /usr, which is read-only on Flatcar")
    elif plan.overlay is None:
        yield Finding(
            "toolkit.installDir",
            f"{path} is read-only: there is no overlay on /usr/local",
            remedy="use --usr-local overlay, or --toolkit-install-dir /opt/nvidia "
            "(and the same toolkit.installDir in the operator's Helm values)",
        )


@rule(
    "FG112",
    "the install directory is one that Ignition or the system owns",
    why="The operator's toolkit is not meant to live there: the directory is volatile, holds the system's own files or "
    "is not a directory at all.",
    source="file-hierarchy(7); gpu-operator assets/state-container-toolkit",
    remedy="use --toolkit-install-dir /opt/nvidia",
)
def install_dir_is_of_its_own(plan: Plan) -> Iterator[Finding]:
    path = plan.install_dir
    if path is not None and (path == "/" or path.count("/") == 1 or _is_system_owned(path)):
        yield Finding("toolkit.installDir", f"{path} is not a place to install software in")


def _is_system_owned(path: str) -> bool:
    return any(is_below(path, folder) for folder in ("/boot", "/dev", "/etc", "/proc", "/run", "/sys", "/tmp"))  # noqa: S108


@rule(
    "FG113",
    "the nvidia-runtime extension does not find a driver container's driver",
    why="The extension's runtime looks for the driver in the host's own root; a driver container keeps it below "
    "/run/nvidia/driver (inferred, not run on a node).",
    source="nvidia-container-toolkit#134; facts of gpu-operator on NVIDIA_DRIVER_ROOT",
    remedy="use --toolkit operator with --driver container, or --driver sysext with --toolkit sysext",
)
def runtime_sysext_finds_the_driver(plan: Plan) -> Iterator[Finding]:
    if plan.toolkit is Toolkit.SYSEXT and plan.strategy is Strategy.CONTAINER:
        yield Finding("toolkit.provider", "the nvidia-runtime extension cannot serve the operator's driver container")


@rule(
    "FG114",
    "nvidia-runtime is older than driver extensions",
    why="Before 1.17 the extension's helper knows only drivers that nvidia.service built, and nvidia.service fails "
    "with an extension's driver.",
    source="flatcar/Flatcar#1859; flatcar/sysext-bakery#153",
    remedy="use --runtime-sysext-version v1.17.9 or later",
)
def runtime_sysext_knows_driver_sysexts(plan: Plan) -> Iterator[Finding]:
    if plan.strategy is not Strategy.SYSEXT or plan.runtime_sysext is None:
        return
    version = plan.runtime_sysext.version
    if version_numbers(version) < (1, 17):
        yield Finding("toolkit.runtimeSysext.version", f"nvidia-runtime {version} fails with {plan.driver_sysext}")


@rule(
    "FG115",
    "the nvidia-runtime extension is fetched without a checksum",
    severity=Severity.WARNING,
    why="Without a hash the node merges into /usr whatever the server sends at first boot.",
    source="Ignition specification, verification.hash",
    remedy="take the hash from https://extensions.flatcar.org/extensions/nvidia-runtime/SHA256SUMS "
    "and give it with --runtime-sysext-hash sha256-HEX",
)
def runtime_sysext_is_verified(plan: Plan) -> Iterator[Finding]:
    if plan.runtime_sysext is not None and plan.runtime_sysext.hash is None:
        yield Finding("toolkit.runtimeSysext.hash", f"{plan.runtime_sysext.url} is not verified")


@rule(
    "FG116",
    "a toolkit setting has no effect",
    severity=Severity.WARNING,
    why="The setting belongs to another toolkit provider, so the node is made without it.",
    source="how flatcar-gpu builds a node",
    remedy="leave the setting out, or choose the provider that it belongs to",
)
def toolkit_settings_have_effect(plan: Plan) -> Iterator[Finding]:
    asked = plan.spec.toolkit
    if asked.install_dir is not None and plan.toolkit is not Toolkit.OPERATOR:
        yield Finding("toolkit.installDir", f"{asked.install_dir} is only for the operator's toolkit")
    if plan.toolkit is not Toolkit.SYSEXT:
        defaults = RuntimeSysextSpec()
        for key in ("version", "hash", "url"):
            value = getattr(asked.runtime_sysext, key)
            if value != getattr(defaults, key):
                yield Finding(f"toolkit.runtimeSysext.{key}", f"{value} is only for the nvidia-runtime extension")
