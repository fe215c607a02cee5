"""Trees as YAML with a comment above each line that needs one."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from flatcar_gpu.helm.values import Tree


@dataclass(frozen=True, slots=True)
class Entry:
    """One value: its key, why it is there (for readers), and the setting of the spec that asked for it (for errors)."""

    key: str
    value: Any
    why: str = ""
    setting: str = ""


def tree_of(entries: Iterable[Entry]) -> Tree:
    """The entries as one tree; dots in their keys part the levels."""
    tree: Tree = {}
    for entry in entries:
        *sections, name = entry.key.split(".")
        node = tree
        for section in sections:
            node = node.setdefault(section, {})
        node[name] = entry.value
    return tree


def entries_text(entries: Iterable[Entry], comment: str = "") -> bytes:
    """The entries as one YAML document below `comment`; same entries, same bytes."""
    entries = list(entries)
    reasons = {entry.key: entry.why for entry in entries}
    lines = [*_comment(comment, ""), *_mapping(tree_of(entries), "", "", reasons)]
    return "".join(f"{line}\n" for line in lines).encode()


def _comment(text: str, indent: str) -> Iterator[str]:
    for line in text.splitlines():
        yield f"{indent}# {line}".rstrip()


def _mapping(tree: Mapping[str, Any], path: str, indent: str, reasons: Mapping[str, str]) -> Iterator[str]:
    for name, value in tree.items():
        key = f"{path}.{name}" if path else name
        yield from _comment(reasons.get(key, ""), indent)
        shown = _scalar(name)
        if isinstance(value, Mapping) and value:
            yield f"{indent}{shown}:"
            yield from _mapping(value, key, indent + "  ", reasons)
        elif isinstance(value, (list, tuple)) and value:
            yield f"{indent}{shown}:"
            yield from _items(value, indent + "  ")
        else:
            yield f"{indent}{shown}: {_scalar(value)}"


def _items(values: Iterable[Any], indent: str) -> Iterator[str]:
    for value in values:
        if isinstance(value, Mapping):
            first, *others = _mapping(value, "", indent + "  ", {})
            yield f"{indent}- {first.lstrip()}"
            yield from others
        else:
            yield f"{indent}- {_scalar(value)}"


# Words that YAML 1.1 or 1.2 takes for something else than a text.
_WORDS = {"true", "false", "yes", "no", "on", "off", "y", "n", "null"}


def _scalar(value: Any) -> str:
    """A text that no YAML reader takes for a number, a date, a truth value or nothing; others as JSON has them."""
    if not isinstance(value, str):
        return json.dumps(value)
    if re.fullmatch(r"[A-Za-z/][A-Za-z0-9_./-]*", value) and value.lower() not in _WORDS:
        return value
    # Of a printable ASCII text YAML and JSON make the same, and JSON many times faster.
    if value.isascii() and value.isprintable():
        return json.dumps(value)
    quoted: str = yaml.dump(value, Dumper=yaml.SafeDumper, default_style='"', width=math.inf)
    return quoted.rstrip("\n")
