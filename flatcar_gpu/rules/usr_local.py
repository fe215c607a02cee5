"""Rules about the writable overlay on /usr/local."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flatcar_gpu.plan import is_below
from flatcar_gpu.report import Severity
from flatcar_gpu.rules.registry import Finding, rule
from flatcar_gpu.rules.toolkit import USR_IS_READ_ONLY
from flatcar_gpu.spec import Toolkit, UsrLocalSpec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flatcar_gpu.plan import Overlay, Plan

_DIRECTORIES_HINT = "choose directories below /opt or /var/lib, e.g. the defaults"

# Volatile file systems, the boot partition (FAT), and /etc, an overlay itself: none can hold an overlay's upper layer.
_UNFIT = {
    "/boot": "a FAT file system",
    "/dev": "volatile",
    "/etc": "an overlay itself",
    "/proc": "not a place for files",
    "/run": "volatile",
    "/sys": "not a place for files",
    "/tmp": "volatile",  # noqa: S108
}


def _directories(overlay: Overlay | None) -> list[tuple[str, str]]:
    return [("usrLocal.upper", overlay.upper), ("usrLocal.work", overlay.work)] if overlay else []


@rule(
    "FG121",
    "overlay directories below /usr",
    why="Ignition must not write below /usr, which is read-only: the first boot fails.",
    source=f"{USR_IS_READ_ONLY}; flatcar/Flatcar#434",
    remedy=_DIRECTORIES_HINT,
)
def overlay_directories_are_writable(plan: Plan) -> Iterator[Finding]:
    for key, path in _directories(plan.overlay):
        if is_below(path, "/usr"):
            yield Finding(key, f"{path} is below /usr, which is read-only on Flatcar")


@rule(
    "FG122",
    "overlay directories on a file system that cannot hold them",
    why="An overlay's upper and work directories need a lasting file system with extended attributes that is not an "
    "overlay; elsewhere the mount fails or forgets everything at the next boot.",
    source="kernel Documentation/filesystems/overlayfs; flatcar/Flatcar#1448; that /etc is an overlay is inferred for "
    "releases before 4628",
    remedy=_DIRECTORIES_HINT,
)
def overlay_directories_last(plan: Plan) -> Iterator[Finding]:
    for key, path in _directories(plan.overlay):
        if path == "/":
            yield Finding(key, "/ cannot be a directory of the overlay")
        for folder, reason in _UNFIT.items():
            if is_below(path, folder):
                yield Finding(key, f"{path} is on {folder}, which is {reason}")


@rule(
    "FG123",
    "upper and work directory overlap",
    why="The kernel refuses an overlay whose upper and work directories are one or lie within each other.",
    source="kernel Documentation/filesystems/overlayfs",
    remedy="use two directories side by side, e.g. /opt/usr-local-overlay and /opt/usr-local-overlay.wd",
)
def overlay_directories_are_apart(plan: Plan) -> Iterator[Finding]:
    overlay = plan.overlay
    if overlay and (is_below(overlay.upper, overlay.work) or is_below(overlay.work, overlay.upper)):
        yield Finding("usrLocal.work", f"{overlay.work} and {overlay.upper} lie within each other")


@rule(
    "FG124",
    "upper and work directory may be on different file systems",
    severity=Severity.WARNING,
    why="The kernel refuses an overlay whose work directory is on another file system than its upper directory. "
    "Flatcar keeps /opt and /var on one; a data disk mounted on either parts them.",
    source="kernel Documentation/filesystems/overlayfs",
    remedy="put both below the same folder",
)
def overlay_directories_share_a_file_system(plan: Plan) -> Iterator[Finding]:
    overlay = plan.overlay
    if overlay and overlay.upper.split("/")[1] != overlay.work.split("/")[1]:
        yield Finding("usrLocal.work", f"{overlay.work} may be on another file system than {overlay.upper}")


@rule(
    "FG125",
    "overlay together with the nvidia-runtime extension",
    why="The extension brings its own /usr/local/nvidia and restarts systemd-sysext while it runs; with an overlay on "
    "top, what it finds there depends on what was written before.",
    source="flatcar/sysext-bakery nvidia-runtime: symlink /usr/local/nvidia -> /opt/nvidia; flatcar/Flatcar#715",
    remedy="leave --usr-local out: the extension needs no writable /usr/local",
)
def overlay_goes_without_runtime_sysext(plan: Plan) -> Iterator[Finding]:
    if plan.overlay and plan.toolkit is Toolkit.SYSEXT:
        key = "usrLocal.mode" if plan.spec.usr_local.mode else "toolkit.provider"
        yield Finding(key, "the overlay on /usr/local and the nvidia-runtime extension do not go together")


@rule(
    "FG126",
    "an overlay setting has no effect",
    severity=Severity.WARNING,
    why="There is no overlay on this node, so the setting is not used.",
    source="how flatcar-gpu builds a node",
    remedy="leave the setting out, or use --usr-local overlay",
)
def overlay_settings_have_effect(plan: Plan) -> Iterator[Finding]:
    if plan.overlay is not None:
        return
    defaults = UsrLocalSpec()
    for key in ("upper", "work"):
        value = getattr(plan.spec.usr_local, key)
        if value != getattr(defaults, key):
            yield Finding(f"usrLocal.{key}", f"{value} is not used: there is no overlay on /usr/local")
