"""A node's Butane tree as the folder that prepare-node.sh installs from."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from flatcar_gpu.resources import data_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flatcar_gpu.node.parts import Tree

UNITS = "/etc/systemd/system"


@cache
def script() -> str:
    """The script, as it is in the manifests."""
    return data_text("kubernetes/node_prep/prepare-node.sh")


def source_folder(butane: Tree) -> Mapping[str, str]:
    """The folder's files by their path in it: `steps` and, below `files/`, the texts to install.

    `butane` is a tree that `flatcar_gpu.node.build` made. Ignition puts units and drop-ins where they stand here.
    """
    storage, units = butane.get("storage", {}), butane.get("systemd", {}).get("units", ())
    texts: dict[str, str] = {}
    steps = [
        *(f"directory {entry['path']} {_mode(entry)}" for entry in storage.get("directories", ())),
        *(_file(entry, texts) for entry in storage.get("files", ())),
        *(f"link {entry['path']} {entry['target']}" for entry in storage.get("links", ())),
        *(step for unit in units for step in _unit(unit, texts)),
        *(f"enable {unit['name']}" for unit in units if unit.get("enabled")),
    ]
    return {"steps": "".join(f"{step}\n" for step in steps), **{f"files{path}": text for path, text in texts.items()}}


def _mode(entry: Tree) -> str:
    return f"{entry['mode']:04o}"


def _file(entry: Tree, texts: dict[str, str]) -> str:
    path, contents = entry["path"], entry["contents"]
    if "source" in contents:
        words = ("fetch", path, _mode(entry), contents["source"], contents.get("verification", {}).get("hash"))
        return " ".join(word for word in words if word)
    texts[path] = contents["inline"]
    return f"{'replace' if entry.get('overwrite') else 'file'} {path} {_mode(entry)}"


def _unit(unit: Tree, texts: dict[str, str]) -> Iterator[str]:
    path = f"{UNITS}/{unit['name']}"
    if unit.get("mask"):
        yield f"link {path} /dev/null"
    files = {f"{path}.d/{drop_in['name']}": drop_in["contents"] for drop_in in unit.get("dropins", ())}
    if "contents" in unit:
        files[path] = unit["contents"]
    for name, text in files.items():
        texts[name] = text
        yield f"file {name} 0644"
