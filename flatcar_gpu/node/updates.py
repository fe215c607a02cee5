"""Flatcar's automatic updates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flatcar_gpu.node.parts import ButaneParts, inline_file

if TYPE_CHECKING:
    from flatcar_gpu.plan import Plan


def held_updates(plan: Plan) -> ButaneParts:
    """/etc/flatcar/update.conf that names no server; empty unless the plan holds updates.

    update-engine stays on, since it marks a booted partition as good. Ignition writes the file before update-engine
    first runs; written later, an update may already be staged. Source: Flatcar documentation, update strategies.
    """
    if not plan.holds_updates:
        return ButaneParts()
    return ButaneParts(files=(inline_file("/etc/flatcar/update.conf", "SERVER=disabled\n", overwrite=True),))
