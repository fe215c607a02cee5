"""containerd, made to read the configuration that the operator's toolkit extends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flatcar_gpu.node.parts import ButaneParts, drop_in, inline_file
from flatcar_gpu.spec import Toolkit

if TYPE_CHECKING:
    from flatcar_gpu.plan import Plan

CONFIG_PATH = "/etc/containerd/config.toml"
DROP_IN_PATH = "/etc/containerd/conf.d/99-nvidia.toml"

# Flatcar's own settings stay in force through the first import; the toolkit writes its runtimes into conf.d.
CONFIG = """\
version = 2
imports = ["/usr/share/containerd/config.toml", "/etc/containerd/conf.d/*.toml"]
"""


def containerd_config(plan: Plan) -> ButaneParts:
    """/etc/containerd/config.toml and the drop-in that starts containerd with it; empty without the operator's toolkit.

    Stock Flatcar reads /usr/share/containerd/config.toml, which imports nothing, so that what the toolkit writes to
    /etc/containerd is never read and pods fail with `no runtime for "nvidia" is configured`.
    Source: flatcar/scripts containerd.service; nvidia-container-toolkit v1.20.0; tests/contract/test_containerd.py.
    """
    if plan.toolkit is not Toolkit.OPERATOR:
        return ButaneParts()
    return ButaneParts(
        files=(inline_file(CONFIG_PATH, CONFIG),),
        units=(drop_in("containerd.service", "10-gpu-operator.conf"),),
    )
