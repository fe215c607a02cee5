"""Rules about values from a file, where nothing is known of the node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flatcar_gpu.plan import DEFAULT_INSTALL_DIR, is_below
from flatcar_gpu.report import Severity
from flatcar_gpu.rules.registry import Finding, Subject, rule
from flatcar_gpu.rules.toolkit import USR_IS_READ_ONLY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flatcar_gpu.helm.values import Values


@rule(
    "FG321",
    "the toolkit is installed below /usr",
    subject=Subject.VALUES_FILE,
    why="/usr is read-only on Flatcar, so the toolkit's pod fails. An overlay makes /usr/local writable, nothing else.",
    source=f"{USR_IS_READ_ONLY}; NVIDIA/gpu-operator#575",
    remedy="set toolkit.installDir to a folder outside /usr, e.g. /opt/nvidia",
)
def toolkit_is_outside_usr(values: Values) -> Iterator[Finding]:
    path = _toolkit_folder(values)
    if is_below(path, "/usr") and not is_below(path, "/usr/local"):
        yield Finding("toolkit.installDir", f"{path} is below /usr, which is read-only on Flatcar")


@rule(
    "FG322",
    "the toolkit needs a writable /usr/local",
    severity=Severity.WARNING,
    subject=Subject.VALUES_FILE,
    why="/usr/local is read-only on Flatcar unless the node has an overlay there.",
    source=f"{USR_IS_READ_ONLY}; NVIDIA/gpu-operator#575",
    remedy="set toolkit.installDir to a folder outside /usr, e.g. /opt/nvidia, or give the nodes the overlay "
    "(flatcar-gpu ignition --usr-local overlay)",
)
def toolkit_is_outside_usr_local(values: Values) -> Iterator[Finding]:
    path = _toolkit_folder(values)
    if is_below(path, "/usr/local"):
        yield Finding("toolkit.installDir", f"the toolkit goes to {path}, which is read-only without an overlay")


def _toolkit_folder(values: Values) -> str:
    if values.get("toolkit.enabled") is False:
        return ""
    # Charts without the key have the path in their templates.
    path = values.get("toolkit.installDir")
    return path if isinstance(path, str) else DEFAULT_INSTALL_DIR


@rule(
    "FG323",
    "a driver container without the operator's toolkit",
    severity=Severity.WARNING,
    subject=Subject.VALUES_FILE,
    why="Flatcar's nvidia-runtime extension looks for the driver in the host's root; a driver container keeps it below "
    "/run/nvidia/driver (inferred, not run on a node).",
    source="nvidia-container-toolkit#134",
    remedy="enable both, or neither",
)
def driver_container_has_its_toolkit(values: Values) -> Iterator[Finding]:
    if values.get("driver.enabled") is True and values.get("toolkit.enabled") is False:
        yield Finding("toolkit.enabled", "who brings a toolkit that finds the driver container's driver?")
