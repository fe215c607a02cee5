"""A plan as Butane: one module a concern, joined here.

build(plan) -> tree -> transpile_tree(tree)    Ignition JSON
                    -> butane_text(tree)       Butane YAML
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flatcar_gpu.node import containerd, driver, modules, toolkit, updates, usr_local
from flatcar_gpu.node.parts import ButaneParts

if TYPE_CHECKING:
    from flatcar_gpu.node.parts import Tree
    from flatcar_gpu.plan import Plan

CONCERNS = (
    modules.kernel_modules,
    usr_local.usr_local_overlay,
    containerd.containerd_config,
    driver.driver_settings,
    toolkit.runtime_sysext,
    updates.held_updates,
)


def build(plan: Plan) -> Tree:
    """The whole Butane config of a node. Same plan, same tree."""
    parts = ButaneParts()
    for concern in CONCERNS:
        parts += concern(plan)
    return parts.as_config()
