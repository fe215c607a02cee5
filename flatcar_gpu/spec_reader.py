"""Reading a spec from YAML with the place of every key and value, so that each error can point at it."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

import yaml
from pydantic import TypeAdapter, ValidationError

from flatcar_gpu.errors import InvalidInput
from flatcar_gpu.report import Position, Problem, Report, Severity
from flatcar_gpu.spec import Spec, key_of, settings

# Far above what people write; keeps bombs of nested brackets and of aliases from taking the machine down.
MAX_DEPTH = 50
MAX_ALIASED_NODES = 100_000

Path = tuple[str | int, ...]


class SpecDocument:
    """One YAML document as plain data, with the position of every key and value."""

    def __init__(self, name: str, data: bytes) -> None:
        self.name = name
        self.data = data
        self.text = ""
        self.report = Report()
        self.keys: dict[str, Position] = {}
        self.values: dict[str, Position] = {}
        self._constructor = yaml.constructor.SafeConstructor()
        self._visited: set[int] = set()
        self._aliased = 0

    def read(self) -> Spec:
        """The spec that the document holds; what is wrong with it is in `report`."""
        return _validated(self._tree(), self)

    def _tree(self) -> dict[str, Any]:
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
            self._error("a spec is a mapping of settings", _place(node), hint="begin with `driver:` or `apiVersion:`")
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

    def _value(self, node: yaml.Node, path: Path) -> Any:
        self.values.setdefault(_dotted(path), _place(node))
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

    def _scalar(self, node: yaml.ScalarNode, path: Path) -> Any:
        try:
            return self._constructor.construct_object(node)
        except (yaml.YAMLError, ValueError) as error:
            problem = getattr(error, "problem", None) or str(error)
            self._error(problem, _place(node), _dotted(path))
            return None

    def _mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, Any]:
        try:
            self._constructor.flatten_mapping(node)
        except yaml.MarkedYAMLError as error:
            self._syntax_error(error)
            return {}
        tree: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                self._error("a key must be a plain text", _place(key_node), _dotted(path))
                continue
            below = (*path, key_node.value)
            self.keys[_dotted(below)] = _place(key_node)
            self.values[_dotted(below)] = _place(value_node)
            tree[key_node.value] = self._value(value_node, below)
        return tree

    def _report_keys_written_twice(self, node: yaml.MappingNode, path: Path) -> None:
        lines: dict[str, int] = {}
        for key_node, _ in node.value:
            key, at = str(key_node.value), _place(key_node)
            if key in lines:
                message = f"the key {key!r} stands here again; it is already in line {lines[key]}"
                self._error(message, at, _dotted((*path, key)), hint="keep one of the two")
            lines.setdefault(key, at.line)


def _validated(tree: dict[str, Any], document: SpecDocument) -> Spec:
    """The spec in `tree`. What is wrong is reported and left out, so that later checks see the rest."""
    if not tree:
        return Spec()
    adapter = _adapter()
    try:
        return adapter.validate_python(tree)
    except ValidationError as error:
        for found in error.errors(include_url=False):
            document.report.add(_explained(dict(found), document))
            _leave_out(tree, found["loc"])
    return adapter.validate_python(tree)


def _leave_out(tree: Any, location: Path) -> None:
    *sections, last = location
    for part in sections:
        tree = tree[part]
    # Removing an item would shift those behind it; a text in its place is of the right type in every list we have.
    if isinstance(tree, list):
        tree[int(last)] = "left-out"
    else:
        tree.pop(last, None)


@cache
def _adapter() -> TypeAdapter[Spec]:
    return TypeAdapter(Spec)


def _place(node: yaml.Node) -> Position:
    start, end = node.start_mark, node.end_mark
    one_line = start.line == end.line and end.column > start.column
    return Position(start.line + 1, start.column + 1, end.column + 1 if one_line else None)


def _dotted(path: Path) -> str:
    return ".".join(str(part) for part in path)


def _explained(error: dict[str, Any], document: SpecDocument) -> Problem:
    """A pydantic error in our words, at its place in the document."""
    key = _dotted(error["loc"])
    if error["type"] == "unexpected_keyword_argument":
        return _unknown_key(key, document)
    message, hint = _expectation(error, key)
    return Problem(Severity.ERROR, message, key, document.values.get(key), document.name, hint=hint)


def _unknown_key(key: str, document: SpecDocument) -> Problem:
    section, _, name = key.rpartition(".")
    known = keys_of_section(section)
    close = get_close_matches(name, known, n=1) or [item for item in known if item.lower() == name.lower()]
    hint = f"did you mean {close[0]!r}?" if close else f"the keys here are {', '.join(known)}"
    return Problem(
        Severity.ERROR, f"there is no setting {name!r}", key, document.keys.get(key), document.name, hint=hint
    )


def _expectation(error: dict[str, Any], key: str) -> tuple[str, str]:
    given = error["input"]
    shown = _shown(given)
    match error["type"]:
        case "enum":
            choices = settings()[key].choices
            close = get_close_matches(str(given), choices, n=1)
            return (
                f"{shown} is not one of {', '.join(choices)}",
                f"did you mean {close[0]!r}?" if close else "",
            )
        case "literal_error":
            return f"{shown} is not a version of the spec that this program knows", f"write {error['ctx']['expected']}"
        case "string_type" if isinstance(given, (int, float)) and not isinstance(given, bool):
            return f"expected a text, found the number {shown}", f'quote it: "{shown}" (YAML drops a closing zero)'
        case "string_type":
            return f"expected a text, found {shown}", ""
        case "bool_type" | "bool_parsing":
            return f"expected true or false, found {shown}", ""
        case "dataclass_type" | "dataclass_exact_type":
            known = ", ".join(keys_of_section(key))
            return f"expected a mapping, found {shown}", f"the keys here are {known}"
        case "tuple_type":
            return f"expected a list, found {shown}", f"write [{shown}]" if isinstance(given, str) else ""
        case _:
            return f"{error['msg']}, found {shown}", ""


def _shown(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    return repr(value) if isinstance(value, str) else str(value)


def keys_of_section(section: str) -> list[str]:
    """The keys that may stand in a section of the spec file (`""` is the file itself, `driver` its driver)."""
    kind: Any = Spec
    for part in section.split(".") if section else []:
        kind = {key_of(name): hint for name, hint in get_type_hints(kind).items()}.get(part)
        if get_origin(kind) is tuple:
            kind = get_args(kind)[0]
        if kind is None:
            return []
    return [key_of(name) for name in getattr(kind, "__dataclass_fields__", {})]


def json_schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of the spec file, with the help and form of every setting."""
    schema = _adapter().json_schema()
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
    definitions = schema.get("$defs", {})
    for setting in settings().values():
        target = _property(schema, definitions, setting.key)
        target["description"] = setting.help
        if setting.form:
            _add_pattern(target, setting.form.pattern)
    return schema


def _property(schema: dict[str, Any], definitions: dict[str, Any], key: str) -> dict[str, Any]:
    node = schema
    for part in key.split("."):
        node = node["properties"][part]
        if "$ref" in node and part != key.rpartition(".")[2]:
            node = definitions[node["$ref"].rpartition("/")[2]]
    return node


def _add_pattern(target: dict[str, Any], pattern: str) -> None:
    if "items" in target:
        target = target["items"]
    for branch in target.get("anyOf", [target]):
        if branch.get("type") == "string":
            branch["pattern"] = f"^({pattern})$"
