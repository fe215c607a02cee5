"""Keys that no field has, and places where the text holds no object though the config does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flatcar_gpu.transpile import messages
from flatcar_gpu.transpile.paths import child, shown
from flatcar_gpu.transpile.syntax_tree import Alias, AnyNode, Mapping, Scalar, Sequence

if TYPE_CHECKING:
    from flatcar_gpu.transpile.paths import Path
    from flatcar_gpu.transpile.schema import Field, Struct
    from flatcar_gpu.transpile.translation import Findings


def find_unused_keys(
    node: AnyNode | None, values: Any, struct: Struct, findings: Findings, *, ignition: bool = False, path: Path = ()
) -> None:
    """Warn of the keys of `node` that are not in `struct`, in the order of the text, then of what its members have.

    `values` is the decoded object: indices of lists count its items, from which nulls are gone. Of equal mistakes
    behind one alias or in merged mappings nothing is said, as the text has no place for them.
    """
    if node is None:
        return
    if not isinstance(node, Mapping):
        findings.warning(path, messages.tree_mismatch(shown(path) or "$"))
        return
    fields: dict[str, Field] = struct.ignition if ignition else struct.fields
    nested = struct.nested if ignition else struct.butane_nested
    for key in node.content[::2]:
        if isinstance(key, Scalar | Alias) and key.value not in fields:
            findings.warning((*path, key.value), messages.unused_key(key.value), key=key)
    for name, item, many in nested:
        member = child(node, name)
        if member is None:
            continue
        if not many:
            find_unused_keys(member, values.get(name, {}), item, findings, ignition=ignition, path=(*path, name))
        elif isinstance(member, Sequence):
            for index, entry in enumerate(values.get(name, ())):
                place = member.content[index]
                find_unused_keys(place, entry, item, findings, ignition=ignition, path=(*path, name, index))
