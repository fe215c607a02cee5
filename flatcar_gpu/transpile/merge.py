"""Ignition's way of merging two configs: the child changes the parent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flatcar_gpu.transpile.schema import Kind, Struct, latest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flatcar_gpu.transpile.schema import Field

Tree = dict[str, Any]

# By which of its members an item of a list is known; items of lists of strings are known by themselves.
_KEYS = {
    "Directory": "path",
    "Disk": "device",
    "Dropin": "name",
    "File": "path",
    "Filesystem": "device",
    "HTTPHeader": "name",
    "Link": "path",
    "Luks": "name",
    "PasswdGroup": "name",
    "PasswdUser": "name",
    "Raid": "name",
    "Resource": "source",
    "Tang": "url",
    "Unit": "name",
}
# Lists whose items are never taken for the same: they are only appended.
APPENDED = frozenset(
    (
        ("File", "append"),
        ("Filesystem", "mountOptions"),
        ("Filesystem", "options"),
        ("Luks", "options"),
        ("Raid", "options"),
    )
)
# Lists that know an item of one for an item of the other.
SHARED = {
    "KernelArguments": ("shouldExist", "shouldNotExist"),
    "Storage": ("directories", "files", "links"),
}


def key(item: Any, struct: Struct | None) -> str:
    """What an item of a list is known by."""
    if struct is None:
        return str(item)
    if struct.name == "Partition":
        return str(item["number"]) if item.get("number") else item.get("label", "")
    return str(item.get(_KEYS[struct.name], ""))


def merge(parent: Tree, child: Tree) -> Tree:
    """The Ignition config that has all of `parent` and of `child`, `child` winning where both say something.

    Both are trees in the order of Ignition's JSON and are left as they are; so is the order of the result. Set scalars
    of the child replace the parent's, objects are merged, lists are united by key: the parent's items first, each
    merged with the child's of the same key, then what only the child has. Files, directories and links are one space
    of paths, the two lists of kernel arguments one space of arguments.
    Source: coreos/ignition config/merge/merge.go.
    """
    return _merge_object(parent, child, latest().config)


def _merge_object(parent: Tree, child: Tree, struct: Struct) -> Tree:
    shared = SHARED.get(struct.name, ())
    taken = {name: _keys_elsewhere(child, struct, name, shared) for name in shared}
    merged: Tree = {}
    for name, field in struct.ignition.items():
        value = _merge_field(parent, child, struct, field, taken.get(name, frozenset()))
        if value is not None:
            merged[name] = value
    # What Butane's tables do not have, such as `ignition.version`.
    others = [name for name in (*parent, *child) if name not in struct.ignition]
    return merged | {name: child.get(name, parent.get(name)) for name in others}


def _merge_field(parent: Tree, child: Tree, struct: Struct, field: Field, gone: Iterable[str]) -> Any:
    old, new = parent.get(field.json), child.get(field.json)
    kind = field.type.kind
    if kind is Kind.LIST:
        item = field.type.item.struct if field.type.item else None
        kept = [entry for entry in old or () if key(entry, item) not in gone] if gone else old or []
        if (struct.name, field.json) in APPENDED:
            return [*kept, *(new or [])] or None
        return merge_list(kept, new or [], item)[0] or None
    if old is None or new is None:
        return old if new is None else new
    if kind is Kind.OBJECT and field.type.struct:
        return _merge_object(old, new, field.type.struct)
    return new if field.optional or new else old


def _keys_elsewhere(child: Tree, struct: Struct, name: str, shared: tuple[str, ...]) -> frozenset[str]:
    """What the child has in the other lists that share their keys with the list `name`."""
    return frozenset(
        key(entry, struct.ignition[other].type.item.struct)  # type: ignore[union-attr]
        for other in shared
        if other != name and other in struct.ignition
        for entry in child.get(other, ())
    )


def merge_list(
    parent: list[Any], child: list[Any], item: Struct | None
) -> tuple[list[Any], list[tuple[int | None, int | None]]]:
    """The two lists united by key, and from which item of each list every item of the result comes.

    Of several items of the child with one key that the parent has, the last one counts.
    """
    changes = {key(entry, item): index for index, entry in enumerate(child)}
    known = {key(entry, item) for entry in parent}
    merged: list[Any] = []
    origins: list[tuple[int | None, int | None]] = []
    for index, entry in enumerate(parent):
        change = changes.get(key(entry, item))
        origins.append((index, change))
        merged.append(entry if change is None or item is None else _merge_object(entry, child[change], item))
    for index, entry in enumerate(child):
        if key(entry, item) not in known:
            origins.append((None, index))
            merged.append(entry)
    return merged, origins
