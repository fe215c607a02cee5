"""YAML read as plain data with the place of every key and value, so that each error can point at it."""

from __future__ import annotations

from typing import Any

import yaml

from flatcar_gpu.errors import InvalidInput
from flatcar_gpu.report import Position, Problem, Report, Severity

# Far above what people write; keeps bombs of nested brackets and of aliases from taking the machine down.
MAX_DEPTH = 50
MAX_ALIASED_NODES = 100_000

KeyPath = tuple[str | int, ...]


class YamlDocument:
    """One YAML document as plain data, with the position of every key and value, and the scalars as written."""

    def __init__(self, name: str, data: bytes) -> None:
        self.name = name
        self.data = data
        self.text = ""
        self.report = Report()
        self.keys: dict[str, Position] = {}
        self.values: dict[str, Position] = {}
        self.texts: dict[str, str] = {}
        self._constructor = yaml.constructor.SafeConstructor()
        self._visited: set[int] = set()
        self._aliased = 0

    def mapping(self, what: str, hint: str) -> dict[str, Any]:
        """The mapping that the document holds; empty where it is empty or wrong, and what is wrong is in `report`.

        `what` and `hint` tell the user what was expected where the document is no mapping.
        """
        try:
            self.text = self.data.decode("utf-8-sig")
            self._refuse_deep_nesting()
            node = yaml.compose(self.text, Loader=yaml.CSafeLoader)
        except UnicodeDecodeError as error:
            self._error(f"the file is not UTF-8: {error.reason} at byte {error.start}")
            return {}
        except yaml.MarkedYAMLError as error:
            self._syntax_error(error)
            return {}
        except yaml.reader.ReaderError as error:
            self._error(f"the file holds a character that YAML does not allow: {error.reason}")
            return {}
        if node is None or node.tag == "tag:yaml.org,2002:null":
            return {}
        if not isinstance(node, yaml.MappingNode):
            self._error(f"{what} is a mapping of settings", _place(node), hint=hint)
            return {}
        tree: dict[str, Any] = self._value(node, ())
        return tree

    def _refuse_deep_nesting(self) -> None:
        depth = 0
        for event in yaml.parse(self.text, Loader=yaml.CSafeLoader):
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            if depth > MAX_DEPTH:
                mark: Any = event.start_mark
                raise yaml.MarkedYAMLError(problem=f"more than {MAX_DEPTH} levels deep", problem_mark=mark)

    def _syntax_error(self, error: yaml.MarkedYAMLError) -> None:
        mark = error.problem_mark or error.context_mark
        parts = [part for part in (error.context, error.problem) if part]
        self._error(": ".join(parts), Position(mark.line + 1, mark.column + 1) if mark else None)

    def _error(self, message: str, position: Position | None = None, path: str = "", hint: str = "") -> None:
        self.report.add(Problem(Severity.ERROR, message, path, position, self.name, hint=hint))

    def _value(self, node: yaml.Node, path: KeyPath) -> Any:
        self.values.setdefault(dotted(path), _place(node))
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node, path)
        if id(node) in self._visited:
            self._aliased += 1
            if self._aliased > MAX_ALIASED_NODES:
                raise InvalidInput(self._too_many_aliases(node), {self.name: self.text})
        elif isinstance(node, yaml.MappingNode):
            # Before keys are merged in from elsewhere, which may well be there twice.
            self._report_keys_written_twice(node, path)
        self._visited.add(id(node))
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        return [self._value(item, (*path, index)) for index, item in enumerate(node.value)]

    def _too_many_aliases(self, node: yaml.Node) -> Report:
        self._error("aliases make the file grow beyond all bounds", _place(node))
        return self.report

    def _scalar(self, node: yaml.ScalarNode, path: KeyPath) -> Any:
        self.texts[dotted(path)] = node.value
        try:
            return self._constructor.construct_object(node)
        except (yaml.YAMLError, ValueError) as error:
            problem = getattr(error, "problem", None) or str(error)
            self._error(problem, _place(node), dotted(path))
            return None

    def _mapping(self, node: yaml.MappingNode, path: KeyPath) -> dict[str, Any]:
        try:
            self._constructor.flatten_mapping(node)
        except yaml.MarkedYAMLError as error:
            self._syntax_error(error)
            return {}
        tree: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                self._error("a key must be a plain text", _place(key_node), dotted(path))
                continue
            below = (*path, key_node.value)
            self.keys[dotted(below)] = _place(key_node)
            self.values[dotted(below)] = _place(value_node)
            tree[key_node.value] = self._value(value_node, below)
        return tree

    def _report_keys_written_twice(self, node: yaml.MappingNode, path: KeyPath) -> None:
        lines: dict[str, int] = {}
        for key_node, _ in node.value:
            key, at = str(key_node.value), _place(key_node)
            if key in lines:
                message = f"the key {key!r} stands here again; it is already in line {lines[key]}"
                self._error(message, at, dotted((*path, key)), hint="keep one of the two")
            lines.setdefault(key, at.line)


def _place(node: yaml.Node) -> Position:
    start, end = node.start_mark, node.end_mark
    one_line = start.line == end.line and end.column > start.column
    return Position(start.line + 1, start.column + 1, end.column + 1 if one_line else None)


def dotted(path: KeyPath) -> str:
    """The name of a place in a document: `storage.files.0.mode`."""
    return ".".join(str(part) for part in path)


def shown_value(value: Any) -> str:
    """A value in an error: `nothing`, `true`, `a mapping`, `a list`, a number, or a text in quotes."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    return repr(value) if isinstance(value, str) else str(value)
