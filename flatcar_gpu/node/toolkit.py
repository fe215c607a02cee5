"""The nvidia-runtime system extension."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flatcar_gpu.node.parts import ButaneParts, Octal

if TYPE_CHECKING:
    from flatcar_gpu.node.parts import Tree
    from flatcar_gpu.plan import Plan


def runtime_sysext(plan: Plan) -> ButaneParts:
    """The extension's image below /opt/extensions and the link that enables it; empty for other toolkit providers.

    Source: Flatcar documentation, using-nvidia; facts of flatcar/sysext-bakery.
    """
    extension = plan.runtime_sysext
    if extension is None:
        return ButaneParts()
    path = f"/opt/extensions/nvidia-runtime/{extension.file_name}"
    contents: Tree = {"source": extension.url}
    if extension.hash:
        contents["verification"] = {"hash": extension.hash}
    return ButaneParts(
        files=({"path": path, "mode": Octal(0o644), "contents": contents},),
        links=({"path": "/etc/extensions/nvidia-runtime.raw", "target": path, "hard": False},),
    )
