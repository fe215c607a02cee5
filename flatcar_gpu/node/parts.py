"""Pieces of a Butane config."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from flatcar_gpu.resources import unit_text

Tree = dict[str, Any]

# The oldest flatcar version of Butane; every release that takes Ignition 3 takes what it makes (3.3.0).
BUTANE_VERSION = "1.0.0"


class Octal(int):
    """A file mode: an integer that YAML shows in octal, as people write it."""


@dataclass(frozen=True, slots=True)
class ButaneParts:
    """What one concern puts on the node; each entry has the shape of a Butane list item."""

    directories: tuple[Tree, ...] = ()
    files: tuple[Tree, ...] = ()
    links: tuple[Tree, ...] = ()
    units: tuple[Tree, ...] = ()

    def __add__(self, other: ButaneParts) -> ButaneParts:
        return ButaneParts(*(getattr(self, item.name) + getattr(other, item.name) for item in fields(self)))

    def as_config(self) -> Tree:
        storage = {name: list(getattr(self, name)) for name in ("directories", "files", "links")}
        config: Tree = {"variant": "flatcar", "version": BUTANE_VERSION}
        config["storage"] = {name: items for name, items in storage.items() if items}
        config["systemd"] = {"units": list(self.units)} if self.units else {}
        return {key: value for key, value in config.items() if value}


def inline_file(path: str, text: str, *, mode: int = 0o644, overwrite: bool = False) -> Tree:
    """A file with its contents in the config."""
    entry: Tree = {"path": path, "mode": Octal(mode)}
    if overwrite:
        entry["overwrite"] = True
    return {**entry, "contents": {"inline": text}}


def drop_in(unit: str, name: str) -> Tree:
    """The entry of a unit that only gets the drop-in `units/UNIT.d/NAME`."""
    return {"name": unit, "dropins": [{"name": name, "contents": unit_text(f"{unit}.d/{name}")}]}
