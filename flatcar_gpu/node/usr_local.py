"""The writable overlay on /usr/local."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flatcar_gpu.node.parts import ButaneParts, Octal, drop_in
from flatcar_gpu.resources import unit_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flatcar_gpu.plan import Plan

MOUNT_UNIT = "usr-local.mount"


def usr_local_overlay(plan: Plan) -> ButaneParts:
    """Writable overlay on /usr/local that survives merges of system extensions.

    Returns the two directories, the mount unit and the drop-in that holds it up; empty unless the plan has an overlay.
    Source: boots of a read-only /usr with systemd 252 and 257 (`make vm-test`); systemd.unit(5) on Upholds=.
    """
    overlay = plan.overlay
    if overlay is None:
        return ButaneParts()
    mount = with_unit_values(
        unit_text(MOUNT_UNIT),
        {
            "ConditionPathExists": overlay.upper,
            "RequiresMountsFor": f"{overlay.upper} {overlay.work}",
            "Options": f"lowerdir=/usr/local,upperdir={overlay.upper},workdir={overlay.work}",
        },
    )
    return ButaneParts(
        directories=tuple({"path": path, "mode": Octal(0o755)} for path in (overlay.upper, overlay.work)),
        units=(
            {"name": MOUNT_UNIT, "enabled": True, "contents": mount},
            drop_in("systemd-sysext.service", "10-usr-local.conf"),
        ),
    )


def with_unit_values(text: str, values: Mapping[str, str]) -> str:
    """A unit's text with the values of some of its keys replaced; each key must stand in it exactly once."""
    lines = text.splitlines(keepends=True)
    for key, value in values.items():
        (at,) = [number for number, line in enumerate(lines) if line.startswith(f"{key}=")]
        lines[at] = f"{key}={value}\n"
    return "".join(lines)
