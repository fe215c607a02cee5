"""Places in a config: paths of keys and indices, where they come from, and where they stand in the text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flatcar_gpu.report import Position
from flatcar_gpu.transpile.syntax_tree import Alias, AnyNode, Mapping, Scalar, Sequence

if TYPE_CHECKING:
    from collections.abc import Callable

    from flatcar_gpu.transpile.translation import Finding

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


def node_at(root: AnyNode | None, path: Path) -> AnyNode | None:
    """The node at `path`, or its deepest ancestor that the text has."""
    node = root
    for part in path:
        found = child(node, part)
        if found is None:
            break
        node = found
    return node


def position(root: AnyNode | None, path: Path) -> Position | None:
    """Where `path` stands in the text; see `node_at`."""
    node = node_at(root, path)
    return Position(node.line, node.column) if node is not None and node.line else None


def finding_position(finding: Finding, root: AnyNode | None) -> Position | None:
    """Where a finding stands in the text: at its key, or at the value of its path."""
    return position(finding.key, ()) if finding.key is not None else position(root, finding.path)


def child(node: AnyNode | None, part: str | int) -> AnyNode | None:
    """The value of a key of a mapping, or the item of a sequence; None where there is none."""
    if isinstance(node, Mapping) and isinstance(part, str):
        content = node.content
        # Of equal keys, which only a merged Ignition config can have, the last one counts.
        for index in range(len(content) - 2, -1, -2):
            key = content[index]
            if isinstance(key, Scalar | Alias) and key.value == part:
                return content[index + 1]
    if isinstance(node, Sequence) and isinstance(part, int) and part < len(node.content):
        return node.content[part]
    return None
