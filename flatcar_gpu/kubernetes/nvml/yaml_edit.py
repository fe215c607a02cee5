"""Changing YAML text so that it says something else, and leaving alone what stays the same.

The text is edited at the places that the parser reports, so comments, quotes, order and line ends stay. What the edited
text means is read again and compared; where the two differ (aliases can make them) the document is written anew.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

import yaml

from flatcar_gpu.kubernetes.nvml.manifests import Loader, construct

_IDENTITIES = ("mountPath", "name", "key")


class _Dumper(yaml.CSafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True


_Dumper.add_representer(
    str,
    lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None),
)


def block_text(data: Any) -> str:
    """`data` as YAML in block style, texts of several lines as literal blocks."""
    text: str = yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1_000_000)
    return text


def edited(text: str, node: yaml.Node, new: Any) -> str:
    """`text`, one document that was composed to `node`, changed so that it means `new`."""
    old = construct(node)
    edits = _Edits(text)
    edits.change(node, old, new, column=0, in_flow=False)
    result = edits.apply()
    if _means(result) == new:
        return result
    head = re.match(r"(?:---[ \t]*)?(?:(?:#[^\n]*)?\r?\n(?:---[ \t]*)?)*", text)
    newline = _newline(text)
    return (head.group() if head else "") + block_text(new).replace("\n", newline)


def _means(text: str) -> Any:
    try:
        return construct(yaml.compose(text, Loader))
    except yaml.YAMLError:
        return None


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


@dataclass(frozen=True, slots=True)
class _Edit:
    start: int
    end: int
    text: str


class _Edits:
    """Edits of one document, collected while its nodes and the data that it shall mean are walked side by side."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.newline = _newline(text)
        self.edits: list[_Edit] = []

    def apply(self) -> str:
        text = self.text
        # From the end on, so that places stay valid; of two at one place the later one belongs behind the earlier.
        for edit in sorted(self.edits, key=lambda edit: edit.start)[::-1]:
            text = text[: edit.start] + edit.text + text[edit.end :]
        return text

    def change(self, node: yaml.Node, old: Any, new: Any, column: int, in_flow: bool) -> None:
        """Make `node`, which means `old`, mean `new`; `column` is where the key or dash before it stands."""
        if old == new and type(old) is type(new):
            return
        if isinstance(node, yaml.MappingNode) and node.value and isinstance(new, dict) and old.keys() <= new.keys():
            self._change_mapping(node, old, new, in_flow)
        elif isinstance(node, yaml.SequenceNode) and node.value and isinstance(new, list) and _is_longer(old, new):
            self._change_sequence(node, old, new, column, in_flow)
        else:
            self._replace(node, new, column, in_flow)

    def _change_mapping(self, node: yaml.MappingNode, old: Any, new: Any, in_flow: bool) -> None:
        in_flow = in_flow or bool(node.flow_style)
        for key_node, value_node in node.value:
            key = construct(key_node)
            if key in old and key in new:
                self.change(value_node, old[key], new[key], key_node.start_mark.column, in_flow)
        added = {key: value for key, value in new.items() if key not in old}
        self._append(node, added, node.value[0][0].start_mark.column, in_flow)

    def _change_sequence(self, node: yaml.SequenceNode, old: Any, new: Any, column: int, in_flow: bool) -> None:
        in_flow = in_flow or bool(node.flow_style)
        dash = column if in_flow else self._dash_column(node)
        for item, before, after in zip(node.value, old, new, strict=False):
            self.change(item, before, after, dash, in_flow)
        self._append(node, new[len(old) :], dash, in_flow)

    def _append(self, node: yaml.CollectionNode, added: Any, column: int, in_flow: bool) -> None:
        """Add the keys or items `added` behind the last one of `node`."""
        if not added:
            return
        end = _end(node.value[-1])
        if in_flow:
            self._edit(end, end, ", " + _flow_text(added)[1:-1])
            return
        end = self._content_end(end)
        line_end = self.text.find("\n", end)
        line_end = len(self.text) if line_end < 0 else line_end - (self.text[line_end - 1] == "\r")
        self._edit(line_end, line_end, "\n" + _indented(block_text(added), column))

    def _replace(self, node: yaml.Node, new: Any, column: int, in_flow: bool) -> None:
        start, end = node.start_mark.index, self._content_end(_end(node), node.start_mark.index)
        is_filled = isinstance(new, dict | list) and bool(new)
        if in_flow:
            self._edit(start, end, _flow_text(new))
        elif not is_filled:
            self._edit(start, end, _scalar_text(new))
        elif isinstance(node, yaml.CollectionNode) and not node.flow_style:
            self._edit(start, end, _indented(block_text(new), node.start_mark.column).lstrip(" "))
        else:
            # The block begins on a line of its own, below the key.
            while self.text[start - 1] == " ":
                start -= 1
            deeper = column if isinstance(new, list) else column + 2
            self._edit(start, end, "\n" + _indented(block_text(new), deeper))

    def _dash_column(self, node: yaml.SequenceNode) -> int:
        before = self.text[: node.value[0].start_mark.index]
        dash = before.rfind("-")
        return dash - (before.rfind("\n", 0, dash) + 1)

    def _content_end(self, end: int, start: int = 0) -> int:
        """`end` without the line breaks that a block scalar takes with it."""
        while end > start and self.text[end - 1] in "\r\n":
            end -= 1
        return end

    def _edit(self, start: int, end: int, text: str) -> None:
        self.edits.append(_Edit(start, end, text.replace("\n", self.newline)))


def _is_longer(old: list[Any], new: list[Any]) -> bool:
    """Whether `new` is `old`, entries changed perhaps, with more entries behind."""
    return len(old) <= len(new) and all(_is_same_entry(*pair) for pair in zip(old, new, strict=False))


def _is_same_entry(before: Any, after: Any) -> bool:
    if not (isinstance(before, dict) and isinstance(after, dict)):
        return bool(before == after)
    return all(before.get(key) == after.get(key) for key in _IDENTITIES)


def _end(value: Any) -> int:
    """Where the content of a node, or of a pair of nodes, ends: block collections themselves end at the next token."""
    node = value[1] if isinstance(value, tuple) else value
    while isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        node = last[1] if isinstance(last, tuple) else last
    index: int = node.end_mark.index
    return index


def _indented(text: str, column: int) -> str:
    lines = text.removesuffix("\n").split("\n")
    return "\n".join(" " * column + line if line else "" for line in lines)


def _flow_text(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False)


def _scalar_text(data: Any) -> str:
    text: str = yaml.dump(data, Dumper=_Dumper, default_flow_style=True, allow_unicode=True, width=1_000_000)
    text = text.removesuffix("\n").removesuffix("\n...")
    return _flow_text(data) if "\n" in text else text
