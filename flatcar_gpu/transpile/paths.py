"""Places in a config: paths of keys and indices, where they come from, and where they stand in the text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flatcar_gpu.report import Position
from flatcar_gpu.transpile.yaml_tree import Alias, AnyNode, Mapping, Scalar, Sequence

if TYPE_CHECKING:
    from collections.abc import Callable

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Places:
    """Where the parts of an Ignition config stand in the text that it came from."""

    root: AnyNode | None
    in_text: Callable[[Path], Path]
    """From a path in the Ignition config to the path of what brought it forth in the text."""

    def of(self, path: Path) -> tuple[str, Position | None]:
        """The path as the text has it, shown, and its position."""
        spelt = self.in_text(path)
        return shown(spelt), position(self.root, spelt)


def shown(path: Path) -> str:
    """`$.storage.files.0.mode`; empty for the whole document."""
    return ".".join(("$", *map(str, path))) if path else ""


def parsed(text: str) -> Path:
    """The path that `shown` shows."""
    return tuple(int(part) if part.isdecimal() else part for part in text.split(".")[1:])


def node_at(root: AnyNode | None, path: Path, *, key: bool = False) -> AnyNode | None:
    """The node at `path`, or its deepest ancestor that the text has; with `key` the last key instead of its value."""
    node = root
    for depth, part in enumerate(path):
        found = _child(node, part)
        if found is None:
            break
        if key and depth == len(path) - 1:
            return found[0]
        node = found[1]
    return node


def position(root: AnyNode | None, path: Path, *, key: bool = False) -> Position | None:
    """Where `path` stands in the text; see `node_at`."""
    node = node_at(root, path, key=key)
    return Position(node.line, node.column) if node is not None and node.line else None


def _child(node: AnyNode | None, part: str | int) -> tuple[AnyNode, AnyNode] | None:
    if isinstance(node, Mapping) and isinstance(part, str):
        content = node.content
        # Of equal keys, which only a merged Ignition config can have, the last one counts.
        for index in range(len(content) - 2, -1, -2):
            key = content[index]
            if isinstance(key, Scalar | Alias) and key.value == part:
                return key, content[index + 1]
    if isinstance(node, Sequence) and isinstance(part, int) and part < len(node.content):
        return node.content[part], node.content[part]
    return None
