"""A Butane config as an Ignition config."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from flatcar_gpu.transpile import messages
from flatcar_gpu.transpile.go_text import SURROGATES
from flatcar_gpu.transpile.local_files import LocalFileError, LocalFiles
from flatcar_gpu.transpile.mount_units import add_mount_units
from flatcar_gpu.transpile.quadlets import add_quadlets
from flatcar_gpu.transpile.resources import embed
from flatcar_gpu.transpile.schema import Kind, Schema, Struct
from flatcar_gpu.transpile.translation import Translation, Tree
from flatcar_gpu.transpile.trees import add_trees

if TYPE_CHECKING:
    from flatcar_gpu.transpile.paths import Path

_ZERO = {Kind.STRING: "", Kind.INTEGER: 0, Kind.BOOLEAN: False}
_LINE_END = re.compile(r"\r?\n")


def translate(butane: Tree, schema: Schema, files: LocalFiles) -> Translation:
    """Translate the decoded config `butane`, which is left as it is.

    The tree has Ignition's keys in the order of its JSON. Findings have Butane's paths.
    """
    translation = Translation(schema, files)
    translator = _Translator(translation)
    config = translation.config = translator.object(butane, schema.config, ())
    config.setdefault("ignition", {})["version"] = schema.version.ignition
    if butane.get("storage", {}).get("filesystems"):
        add_mount_units(butane, translation)
    if "trees" in butane.get("storage", {}):
        add_trees(butane["storage"]["trees"], translation)
    if "quadlets" in butane.get("systemd", {}):
        add_quadlets(butane["systemd"]["quadlets"], translation)
    if "storage" in config:
        config["storage"] = in_order(config["storage"], schema.structs["Storage"])
    translation.config = in_order(config, schema.config)
    return translation


def in_order(tree: Tree, struct: Struct) -> Tree:
    """`tree` with its keys in the order of the JSON, without empty lists and objects."""
    return {key: tree[key] for key in struct.ignition if key in tree and tree[key] not in ({}, [])}


class _Translator:
    def __init__(self, translation: Translation) -> None:
        self.translation = translation

    def object(self, butane: Tree, struct: Struct, path: Path) -> Tree:
        """The Ignition object of a Butane object; objects and lists with nothing in them are left out."""
        special = _SPECIAL.get(struct.name)
        replaced = special(self, butane, path) if special else None
        tree: Tree = {}
        for json, field in struct.ignition.items():
            name = field.name
            value = butane.get(name) if replaced is None or name not in _REPLACED[struct.name] else replaced.get(name)
            kind = field.type.kind
            if value is None:
                if field.always:
                    tree[json] = _ZERO[kind]
            elif kind is Kind.OBJECT:
                inner = self.object(value, field.type.struct, (*path, name))  # type: ignore[arg-type]
                if inner:
                    tree[json] = inner
            elif kind is Kind.LIST:
                if value:
                    item = field.type.item.struct  # type: ignore[union-attr]
                    tree[json] = self.list(value, item, (*path, name)) if item else list(value)
            elif value or field.optional or field.always:
                tree[json] = value
        return tree

    def list(self, items: list[Tree], struct: Struct, path: Path) -> list[Tree]:
        return [self.object(item, struct, (*path, index)) for index, item in enumerate(items)]

    def resource(self, butane: Tree, path: Path) -> Tree:
        return embed(butane, self.translation, path)

    def contents(self, butane: Tree, path: Path) -> Tree:
        """Contents of a unit or drop-in, which may be local."""
        if not butane.get("contents_local"):
            return butane
        here = (*path, "contents_local")
        self.translation.origins.whole[*path, "contents"] = here
        try:
            return {"contents": self.translation.files.read(butane["contents_local"]).decode(errors=SURROGATES)}
        except LocalFileError as error:
            self.translation.findings.error(here, str(error))
            return {}

    def ssh_keys(self, butane: Tree, path: Path) -> Tree:
        """The keys of a user, those from local files last; only lines with nothing in them are not keys."""
        keys = list(butane.get("ssh_authorized_keys", ()))
        names = butane.get("ssh_authorized_keys_local", ())
        here = (*path, "ssh_authorized_keys_local")
        files, findings, origins = self.translation.files, self.translation.findings, self.translation.origins
        if names and not files.folder:
            findings.error(here, messages.NO_FILES_DIR)
            return {}
        for index, name in enumerate(names):
            try:
                text = files.read(name).decode(errors=SURROGATES)
            except LocalFileError as error:
                findings.error((*here, index), str(error))
                continue
            for key in filter(None, _LINE_END.split(text)):
                origins.whole[*path, "ssh_authorized_keys", len(keys)] = (*here, index)
                keys.append(key)
        return {"ssh_authorized_keys": keys}


_SPECIAL: dict[str, Any] = {
    "Resource": _Translator.resource,
    "Unit": _Translator.contents,
    "Dropin": _Translator.contents,
    "PasswdUser": _Translator.ssh_keys,
}
# The fields that the special translations give.
_REPLACED = {
    "Resource": ("compression", "source"),
    "Unit": ("contents",),
    "Dropin": ("contents",),
    "PasswdUser": ("ssh_authorized_keys",),
}
