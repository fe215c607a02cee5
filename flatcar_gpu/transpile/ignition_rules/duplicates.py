"""Items of lists that are known by the same key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flatcar_gpu.transpile import messages
from flatcar_gpu.transpile.merge import APPENDED, SHARED, key

if TYPE_CHECKING:
    from flatcar_gpu.transpile.paths import Path
    from flatcar_gpu.transpile.schema import Struct
    from flatcar_gpu.transpile.translation import Findings


def find_duplicates(tree: Any, struct: Struct, findings: Findings, path: Path = ()) -> None:
    """Say of every second and later item of a key that it is a duplicate, in `tree` and all that is in it.

    Lists that only ever are appended to may hold anything. Source: coreos/ignition config/validate.
    """
    shared = SHARED.get(struct.name, ())
    seen_in_shared: dict[str, Path] = {}
    for name, item in struct.lists:
        entries = tree.get(name)
        if entries is None or (struct.name, name) in APPENDED:
            continue
        seen = seen_in_shared if name in shared else {}
        for index, entry in enumerate(entries):
            known_by = key(entry, item)
            if known_by in seen:
                findings.error((*path, name, index), messages.DUPLICATE, related=seen[known_by])
            else:
                seen[known_by] = (*path, name, index)
    for name, item, many in struct.nested:
        inner = tree.get(name)
        if inner is None:
            continue
        if not many:
            find_duplicates(inner, item, findings, (*path, name))
            continue
        for index, entry in enumerate(inner):
            find_duplicates(entry, item, findings, (*path, name, index))
