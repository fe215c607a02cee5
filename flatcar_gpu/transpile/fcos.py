"""The variant fcos, as far as it is the same as flatcar.

Fedora CoreOS configs that use nothing of its own mean the same on Flatcar, so they are translated; what is its own is
refused. Source: coreos/butane config/fcos/v1_4 and v1_5, on the same base as flatcar 1.0.0 and 1.1.0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flatcar_gpu.transpile import messages
from flatcar_gpu.transpile.paths import child

if TYPE_CHECKING:
    from flatcar_gpu.transpile.syntax_tree import AnyNode
    from flatcar_gpu.transpile.translation import Findings

VARIANT = "fcos"

# The flatcar version with the same base.
SAME_AS = {"1.4.0": "1.0.0", "1.5.0": "1.1.0"}

_OWN_KEYS = ("boot_device", "grub")


def refuse_own_parts(root: AnyNode | None, butane: dict[str, Any], findings: Findings) -> None:
    """Say what flatcar does not have, and what fcos checks by rules of its own: disks and mount units."""
    for key in _OWN_KEYS:
        if child(root, key) is not None:
            findings.error((key,), messages.FCOS_ONLY)
    storage = butane.get("storage") or {}
    if storage.get("disks"):
        findings.error(("storage", "disks"), messages.FCOS_ONLY)
    for index, filesystem in enumerate(storage.get("filesystems") or ()):
        if filesystem.get("with_mount_unit"):
            findings.error(("storage", "filesystems", index, "with_mount_unit"), messages.FCOS_ONLY)
