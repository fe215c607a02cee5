"""An Ignition document in JSON: reading it as Go does, and checking it by Ignition's rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flatcar_gpu.transpile import messages
from flatcar_gpu.transpile.header import canonical_version
from flatcar_gpu.transpile.ignition_rules import Check, Spec, apply_rules, find_duplicates
from flatcar_gpu.transpile.json_tree import JsonError, read_json
from flatcar_gpu.transpile.scalars import BOOL, FLOAT, MAX_INT64, MIN_INT64, NULL, STR
from flatcar_gpu.transpile.schema import Kind, Struct, Type
from flatcar_gpu.transpile.syntax_tree import AnyNode, Mapping, Scalar, Sequence
from flatcar_gpu.transpile.unused_keys import find_unused_keys

if TYPE_CHECKING:
    from flatcar_gpu.transpile.paths import Path
    from flatcar_gpu.transpile.schema import Field, Schema
    from flatcar_gpu.transpile.translation import Findings

Tree = dict[str, Any]

_JSON_TYPES = {STR: "string", FLOAT: "number", BOOL: "bool"}


class JsonTypeError(ValueError):
    """A document of another shape than Ignition's; the message is Go's, `path` the first place."""

    def __init__(self, message: str, path: Path, node: AnyNode) -> None:
        super().__init__(message)
        self.path = path
        self.node = node


def decode_ignition(root: AnyNode, struct: Struct) -> Tree:
    """The document as a tree, the way Go's encoding/json fills Ignition's types.

    Keys match in any case if none fits exactly, of equal keys the last one counts, null leaves unset, unknown keys are
    left out. Raises JsonTypeError for the first value of a wrong type.
    """
    decoder = _Decoder()
    tree = decoder.value(root, Type(Kind.OBJECT, struct.name, struct), ())
    if decoder.error is not None:
        raise decoder.error
    config: Tree = tree if isinstance(tree, dict) else {}
    # Only lists and objects can be left out, and the version is checked in any case.
    return {"ignition": _empty(struct.ignition["ignition"].type.struct), **config}  # type: ignore[arg-type]


def _empty(struct: Struct) -> Tree:
    return {json: _ZERO[field.type.kind] for json, field in struct.ignition.items() if field.always}


_ZERO: dict[Kind, Any] = {Kind.STRING: "", Kind.INTEGER: 0, Kind.BOOLEAN: False}


class _Decoder:
    def __init__(self) -> None:
        self.error: JsonTypeError | None = None

    def value(self, node: AnyNode, type_: Type, path: Path) -> Any:
        if isinstance(node, Scalar) and node.tag == NULL:
            return None
        if type_.kind is Kind.OBJECT and isinstance(node, Mapping) and type_.struct:
            return self.object(node, type_.struct, path)
        if type_.kind is Kind.LIST and isinstance(node, Sequence) and type_.item:
            return self.list(node, type_.item, path)
        if isinstance(node, Scalar):
            if type_.kind is Kind.STRING and node.tag == STR:
                return node.value
            if type_.kind is Kind.BOOLEAN and node.tag == BOOL:
                return node.value == "true"
            if type_.kind is Kind.INTEGER and node.tag == FLOAT and (number := _integer(node.value)) is not None:
                return number
        return self.mismatch(node, type_, path)

    def list(self, node: Sequence, item: Type, path: Path) -> list[Any]:
        empty: Any = {} if item.kind is Kind.OBJECT else _ZERO[item.kind]
        values = (self.value(entry, item, (*path, index)) for index, entry in enumerate(node.content))
        zero = _empty(item.struct) if item.struct else empty
        return [zero if value is None else value for value in values]

    def object(self, node: Mapping, struct: Struct, path: Path) -> Tree:
        found: Tree = {}
        content = iter(node.content)
        for key in content:
            member = next(content)
            field = _field(struct, key.value) if isinstance(key, Scalar) else None
            if field is None:
                continue
            value = self.value(member, field.type, (*path, field.json))
            if value is not None:
                found[field.json] = value
        tree = _empty(struct) | found
        return {json: tree[json] for json in struct.ignition if json in tree}

    def mismatch(self, node: AnyNode, type_: Type, path: Path) -> None:
        if self.error is not None:
            return
        given = "object" if isinstance(node, Mapping) else "array"
        if isinstance(node, Scalar):
            given = _JSON_TYPES[node.tag]
            if type_.kind is Kind.INTEGER and given == "number":
                given = f"number {node.value}"
        names = [part for part in path if isinstance(part, str)]
        into = f"Go struct field Config.{'.'.join(names)}" if names else "Go value"
        self.error = JsonTypeError(f"json: cannot unmarshal {given} into {into} of type {_go_type(type_)}", path, node)


def _go_type(type_: Type) -> str:
    return type_.go.replace(type_.go.partition(".")[0].lstrip("[]"), "types", 1) if "." in type_.go else type_.go


def _field(struct: Struct, key: str) -> Field | None:
    field = struct.ignition.get(key)
    if field is not None:
        return field
    return next((field for json, field in struct.ignition.items() if json.casefold() == key.casefold()), None)


def _integer(text: str) -> int | None:
    try:
        number = int(text)
    except ValueError:
        return None
    return number if MIN_INT64 <= number <= MAX_INT64 else None


def check_merged_config(data: bytes, schema: Schema, findings: Findings, path: Path) -> None:
    """Butane's check of an Ignition config that stands inline at `path` in a merge list or in replace.

    What is wrong inside keeps its inner path, so its place in the text is only nearly right.
    """
    struct = schema.structs["Config"]
    try:
        root = read_json(data)
        config = decode_ignition(root, struct)
    except (JsonError, JsonTypeError) as error:
        findings.error((), str(error))
        findings.error((*path, "inline"), messages.MERGED_CONFIG_INVALID)
        return
    check = Check(spec=Spec.of(schema.version.ignition))
    version = config["ignition"]["version"]
    if canonical_version(version) not in (None, check.spec.name):
        findings.warning((*path, "version"), messages.MERGED_CONFIG_VERSION)
        return
    check_config(root, config, struct, check)
    findings.found += check.found


def check_config(root: AnyNode, config: Tree, struct: Struct, check: Check) -> None:
    """Ignition's rules, duplicates and unused keys of a decoded config by itself; `root` are the nodes of its text."""
    apply_rules(config, struct, check)
    find_duplicates(config, struct, check)
    find_unused_keys(root, config, struct, check, ignition=True)
