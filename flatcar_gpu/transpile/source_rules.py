"""Butane's own rules for a config, before it is translated.

Entries come in Butane's order: an object's own first, then those of its members. Source: coreos/butane
base/v0_4, v0_5 and v0_8_exp validate.go.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flatcar_gpu.transpile import messages
from flatcar_gpu.transpile.go_text import SURROGATES, extension
from flatcar_gpu.transpile.ignition_json import check_merged_config
from flatcar_gpu.transpile.modes import octal_reading
from flatcar_gpu.transpile.quadlets import EXTENSIONS, template
from flatcar_gpu.transpile.translation import Findings

if TYPE_CHECKING:
    from collections.abc import Callable

    from flatcar_gpu.transpile.paths import Path
    from flatcar_gpu.transpile.schema import Schema, Struct

Tree = dict[str, Any]


@dataclass(slots=True)
class SourceCheck(Findings):
    """What the rules find in a config, and the tables of its version."""

    schema: Schema = field(kw_only=True)


def check_source(butane: Tree, check: SourceCheck) -> None:
    """Apply Butane's rules to a decoded config."""
    _walk(butane, check.schema.config, (), check)


def _walk(tree: Tree, struct: Struct, path: Path, check: SourceCheck) -> None:
    rule = _RULES.get(struct.name)
    if rule is not None:
        rule(tree, path, check)
    for name, item, many in struct.butane_nested:
        inner = tree.get(name)
        if inner is None:
            continue
        if not many:
            _walk(inner, item, (*path, name), check)
            continue
        for index, entry in enumerate(inner):
            _walk(entry, item, (*path, name, index), check)


def _resource(tree: Tree, path: Path, check: SourceCheck) -> None:
    given = [name for name in ("local", "inline", "source") if name in tree]
    if len(given) > 1:
        check.error((*path, given[-1]), messages.SEVERAL_SOURCES)
    elif given == ["inline"] and path[:2] == ("ignition", "config"):
        check_merged_config(tree["inline"].encode(errors=SURROGATES), check.schema, check, path)


def _mode(tree: Tree, path: Path, check: SourceCheck) -> None:
    directory = path[1] == "directories"
    if "mode" in tree and octal_reading(tree["mode"], directory=directory) is not None:
        check.warning((*path, "mode"), messages.DECIMAL_MODE)


def _filesystem(tree: Tree, path: Path, check: SourceCheck) -> None:
    if not tree.get("with_mount_unit"):
        return
    if not tree.get("format"):
        check.error((*path, "format"), messages.MOUNT_NEEDS_FORMAT)
    elif tree["format"] != "swap" and not tree.get("path"):
        check.error((*path, "path"), messages.MOUNT_NEEDS_PATH)


def _tree(tree: Tree, path: Path, check: SourceCheck) -> None:
    if not tree.get("local"):
        check.error(path, messages.TREE_NEEDS_LOCAL)


def _contents(tree: Tree, path: Path, check: SourceCheck) -> None:
    if "contents" in tree and "contents_local" in tree:
        check.error((*path, "contents_local"), messages.SEVERAL_CONTENTS)


def _quadlet(tree: Tree, path: Path, check: SourceCheck) -> None:
    name = tree.get("name", "")
    if extension(name) not in EXTENSIONS:
        check.error((*path, "name"), messages.quadlet_extension(EXTENSIONS))
        return
    if template(name):
        for key in ("contents", "contents_local"):
            if key in tree:
                check.error((*path, key), messages.INSTANCE_HAS_CONTENTS)
    _contents(tree, path, check)


_RULES: dict[str, Callable[[Tree, Path, SourceCheck], None]] = {
    "Resource": _resource,
    "Directory": _mode,
    "File": _mode,
    "Filesystem": _filesystem,
    "Tree": _tree,
    "Unit": _contents,
    "Dropin": _contents,
    "Quadlet": _quadlet,
}
