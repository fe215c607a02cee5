"""What each driver strategy puts on the node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flatcar_gpu.node.parts import ButaneParts, inline_file
from flatcar_gpu.spec import Strategy

if TYPE_CHECKING:
    from flatcar_gpu.plan import Plan


def driver_settings(plan: Plan) -> ButaneParts:
    """Settings of the driver strategy; empty for `none`, and for `service` with the release's default driver."""
    match plan.strategy:
        case Strategy.CONTAINER:
            return _no_driver_built_on_the_node()
        case Strategy.SYSEXT:
            return ButaneParts(files=(inline_file("/etc/flatcar/enabled-sysext.conf", f"{plan.driver_sysext}\n"),))
        case Strategy.SERVICE if plan.driver_version:
            return _driver_built_on_the_node(plan.driver_version)
        case _:
            return ButaneParts()


def _no_driver_built_on_the_node() -> ButaneParts:
    """nvidia.service masked: since 3637.0.0 it builds a driver on every node with a GPU, beside the container's.

    With a driver extension it must stay: there it loads the modules. Source: flatcar/scripts setup-nvidia.
    """
    return ButaneParts(units=({"name": "nvidia.service", "mask": True},))


def _driver_built_on_the_node(version: str) -> ButaneParts:
    """/etc/flatcar/nvidia-metadata, which overrides /usr/share/flatcar/nvidia-metadata and has the same two keys."""
    text = f"NVIDIA_DRIVER_VERSION={version}\nNVIDIA_PRODUCT_TYPE=tesla\n"
    return ButaneParts(files=(inline_file("/etc/flatcar/nvidia-metadata", text),))
