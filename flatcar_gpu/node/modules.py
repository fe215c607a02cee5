"""Kernel modules that are loaded at every boot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flatcar_gpu.node.parts import ButaneParts, inline_file

if TYPE_CHECKING:
    from flatcar_gpu.plan import Plan


def kernel_modules(plan: Plan) -> ButaneParts:
    """/etc/modules-load.d/nvidia-driver.conf with the plan's modules in their order.

    A module that is built into the kernel may be listed: systemd-modules-load passes over it.
    """
    text = "".join(f"{module}\n" for module in plan.modules)
    return ButaneParts(files=(inline_file("/etc/modules-load.d/nvidia-driver.conf", text),))
