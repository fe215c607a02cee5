"""The rules of Ignition 2.26 for a config, and the walk that applies them.

A rule belongs to one type of Ignition's and says what is wrong with one object of it; `ALL` has them by the type's
name. Entries come in Ignition's order: an object's own first, then those of its members in the order of the JSON.
Source: coreos/ignition config/v3_3, v3_4 and v3_7_experimental types/*.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flatcar_gpu.transpile.ignition_rules import config, devices, resources, storage, systemd
from flatcar_gpu.transpile.ignition_rules.duplicates import find_duplicates
from flatcar_gpu.transpile.ignition_rules.rule import Check, Rule, Spec

if TYPE_CHECKING:
    from flatcar_gpu.transpile.paths import Path
    from flatcar_gpu.transpile.schema import Struct

ALL: dict[str, Rule] = config.RULES | resources.RULES | storage.RULES | devices.RULES | systemd.RULES


def apply_rules(tree: Any, struct: Struct, check: Check, path: Path = ()) -> None:
    """Apply the rules to the Ignition object `tree` at `path` and to all that is in it."""
    rule = ALL.get(struct.name)
    if rule is not None:
        rule(tree, path, check)
    for key, item, many in struct.nested:
        inner = tree.get(key)
        if inner is None:
            continue
        if not many:
            apply_rules(inner, item, check, (*path, key))
            continue
        for index, entry in enumerate(inner):
            apply_rules(entry, item, check, (*path, key, index))


__all__ = ["Check", "Spec", "apply_rules", "find_duplicates"]
