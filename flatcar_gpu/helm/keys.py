"""The table of the chart's keys: which there are in which chart, and what may stand at them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import yaml

from flatcar_gpu.chart import ChartVersion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


@dataclass(frozen=True, slots=True)
class Key:
    """A key of the values: its type, its charts, and where that is known from."""

    name: str
    type: str
    source: str
    values: tuple[str, ...] = ()
    since: ChartVersion | None = None
    until: ChartVersion | None = None
    default: Any = None
    before: tuple[tuple[ChartVersion, Any], ...] = ()

    def default_in(self, chart: ChartVersion) -> Any:
        """The chart's default; None where the table holds none, or the chart lacks the key."""
        if not self.is_in(chart):
            return None
        return next((value for changed, value in self.before if chart < changed), self.default)

    def is_in(self, chart: ChartVersion) -> bool:
        return (self.since is None or self.since <= chart) and (self.until is None or chart < self.until)

    def misfit(self, value: Any) -> str:
        """What was expected where `value` does not fit; empty where it does. null leaves the chart's own choice."""
        if value is None:
            return ""
        if self.type == "enum":
            return "" if value in self.values else "one of " + ", ".join(repr(word) for word in self.values)
        expected, fits = TYPES[self.type]
        return "" if fits(value) else expected


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_strings(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


TYPES: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "bool": ("true or false", lambda value: isinstance(value, bool)),
    "int": ("a whole number, 0 or more", lambda value: _is_int(value) and value >= 0),
    "string": ("a text", lambda value: isinstance(value, str)),
    "version": ("a text", lambda value: isinstance(value, str)),
    "count": ("a whole number or a percentage", lambda value: _is_int(value) or isinstance(value, str)),
    "strings": ("a list of texts", _is_strings),
    "env": ("a list of `name` and `value`", lambda value: isinstance(value, list)),
    "list": ("a list", lambda value: isinstance(value, list)),
    "map": ("a mapping", lambda value: isinstance(value, dict)),
    "any": ("anything", lambda _: True),
}


@cache
def keys() -> Mapping[str, Key]:
    """All keys by name."""
    table = files("flatcar_gpu.helm").joinpath("data/keys.yaml").read_text()
    found: dict[str, Key] = {}
    for group in yaml.load(table, Loader=yaml.CSafeLoader):
        for key in _keys_of(group):
            # The first row counts, so that a group with many components can have its exceptions above it.
            found.setdefault(key.name, key)
    return found


@cache
def sections() -> Mapping[str, tuple[str, ...]]:
    """What stands below each section (`""` is the file itself), in order of the table."""
    below: dict[str, dict[str, None]] = {}
    for name in keys():
        parts = name.split(".")
        for index, part in enumerate(parts):
            below.setdefault(".".join(parts[:index]), {})[part] = None
    return {section: tuple(names) for section, names in below.items()}


def _keys_of(group: Mapping[str, Any]) -> Iterator[Key]:
    for above in group.get("below", [""]):
        for name, row in group["keys"].items():
            fields: dict[str, Any] = {"type": row} if isinstance(row, str) else dict(row)
            for end in ("since", "until"):
                if end in fields:
                    fields[end] = ChartVersion.parse(fields[end])
            fields["values"] = tuple(fields.get("values", ()))
            fields["before"] = tuple((ChartVersion.parse(at), old) for at, old in fields.get("before", {}).items())
            yield Key(f"{above}.{name}" if above else name, source=group["source"], **fields)
