"""Values of the chart, whether made or read from a file, with the chart's defaults below them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flatcar_gpu.helm.keys import keys, sections

if TYPE_CHECKING:
    from flatcar_gpu.chart import ChartVersion
    from flatcar_gpu.helm.keys import Key

Tree = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Values:
    """What is set for a chart. `texts` has the scalars of a file as they were written, by their place."""

    chart: ChartVersion
    tree: Tree
    texts: Mapping[str, str] = field(default_factory=dict)

    def get(self, key: str) -> Any:
        """The value in force at `key`: what is set, or the chart's default; None where the chart lacks the key."""
        known = keys()[key]
        value = self.given(key) if known.is_in(self.chart) else None
        return known.default_in(self.chart) if value is None else value

    def given(self, key: str) -> Any:
        """What is set at `key`, whether the chart has it or not, or None."""
        node: Any = self.tree
        for part in key.split("."):
            if not isinstance(node, Mapping):
                return None
            node = node.get(part)
        return node

    def walk(self) -> Iterator[tuple[str, Any, Key | None]]:
        """Every key of the table that is set, and every key that is set and stands in no table (with None)."""
        yield from _walk(self.tree, "", is_open=False)


def _walk(tree: Mapping[str, Any], section: str, *, is_open: bool) -> Iterator[tuple[str, Any, Key | None]]:
    for name, value in tree.items():
        path = f"{section}.{name}" if section else name
        key = keys().get(path)
        if key is not None or not (is_open or path in sections()):
            yield path, value, key
        if path in sections() and isinstance(value, Mapping):
            yield from _walk(value, path, is_open=is_open or key is not None)
