"""The tables of every Butane version of the flatcar variant, derived from the declaration of its fields."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from functools import cache

from flatcar_gpu.transpile.fields import DECLARATION, IGNITION_ORDER


@dataclass(frozen=True, slots=True)
class Version:
    """A version of the flatcar variant."""

    name: str
    ignition: str
    """The Ignition version it makes."""
    go_package: str
    """How Butane's type errors call the place of its types."""


VERSIONS = {
    version.name: version
    for version in (
        Version("1.0.0", "3.3.0", "v0_4"),
        Version("1.1.0", "3.4.0", "v0_5"),
        Version("1.2.0-experimental", "3.7.0-experimental", "v0_8_exp"),
    )
}


class Kind(Enum):
    STRING = "string"
    INTEGER = "integer"
    BOOLEAN = "boolean"
    OBJECT = "object"
    LIST = "list"


@dataclass(slots=True, eq=False)
class Type:
    kind: Kind
    go: str
    """The Go type that messages name, such as `[]v0_4.File`."""
    struct: Struct | None = None
    item: Type | None = None


@dataclass(slots=True, eq=False)
class Field:
    name: str
    """The key in Butane."""
    json: str
    """The key in Ignition; empty where it has none."""
    type: Type
    optional: bool
    """Whether unset differs from zero."""
    always: bool
    """Whether the JSON has it even when it is zero."""


@dataclass(slots=True, eq=False)
class Struct:
    name: str
    fields: dict[str, Field] = field(default_factory=dict)
    """By Butane's key, in the order of validation."""
    ignition: dict[str, Field] = field(default_factory=dict)
    """By Ignition's key, in the order of the JSON; without the keys that only Butane has."""
    butane_nested: tuple[tuple[str, Struct, bool], ...] = ()
    """Butane's keys that hold objects: key, their type, and whether it is a list of them."""
    nested: tuple[tuple[str, Struct, bool], ...] = ()
    """Ignition's keys that hold objects: key, their type, and whether it is a list of them."""
    lists: tuple[tuple[str, Struct | None], ...] = ()
    """Ignition's keys that hold lists: key, and the type of the items if they are objects."""


@dataclass(frozen=True, slots=True)
class Schema:
    version: Version
    structs: dict[str, Struct]
    butane: Type
    """The type of a whole Butane config."""
    is_fcos: bool = False
    """Whether a config of the variant fcos is read by these tables."""

    @property
    def config(self) -> Struct:
        return self.structs["Config"]


@cache
def schema(version: str) -> Schema:
    """The tables of a flatcar version. Raises KeyError for others."""
    return _derive(VERSIONS[version])


def latest() -> Schema:
    """The tables of the newest version, which has every key of the others."""
    return schema(list(VERSIONS)[-1])


def camel_case(name: str) -> str:
    """The Ignition key of a Butane key: `size_mib` is `sizeMiB`."""
    first, *words = name.split("_")
    return first + "".join("MiB" if word == "mib" else word.capitalize() for word in words)


_SCALARS = {"str": Kind.STRING, "int": Kind.INTEGER, "bool": Kind.BOOLEAN}
_GO_SCALARS = {"str": "string", "int": "int", "bool": "bool"}


def _paragraphs() -> dict[str, list[list[str]]]:
    blocks = (block.splitlines() for block in DECLARATION.strip().split("\n\n"))
    return {name: [line.split() for line in lines] for name, *lines in blocks}


def _derive(version: Version) -> Schema:
    order = list(VERSIONS)
    paragraphs = _paragraphs()
    structs = {name: Struct(name) for name in paragraphs}

    def named(name: str) -> Type:
        if name in _SCALARS:
            return Type(_SCALARS[name], _GO_SCALARS[name])
        go = f"{version.go_package}.{name}"
        return Type(Kind.OBJECT, go, structs[name]) if name in structs else Type(Kind.STRING, go)

    def typed(text: str, alias: str) -> Type:
        if not text.startswith("["):
            return named(text.rstrip("?"))
        item = named(text.strip("[]"))
        return Type(Kind.LIST, f"{version.go_package}.{alias}" if alias else f"[]{item.go}", item=item)

    for struct in structs.values():
        for name, text, *marks in paragraphs[struct.name]:
            options = dict(zip(marks, [*marks[1:], ""], strict=False))
            if order.index(options.get("since", order[0])) > order.index(version.name):
                continue
            type_ = typed(text, options.get("as", ""))
            plain = type_.kind not in (Kind.OBJECT, Kind.LIST) and not text.endswith("?")
            json = "" if "butane" in options else camel_case(name)
            field = Field(name, json, type_, not plain, plain and "omit" not in options)
            if "ignition" not in options:
                struct.fields[name] = field
            if json:
                struct.ignition[json] = field
        for name in map(camel_case, IGNITION_ORDER.get(struct.name, "").split()):
            if name in struct.ignition:
                struct.ignition[name] = struct.ignition.pop(name)
        struct.butane_nested = _objects(struct.fields)
        struct.nested = _objects(struct.ignition)
        struct.lists = tuple(
            (json, field.type.item.struct) for json, field in struct.ignition.items() if field.type.item
        )
    return Schema(version, structs, named("Config"))


def _objects(fields: dict[str, Field]) -> tuple[tuple[str, Struct, bool], ...]:
    types = ((name, field.type.item or field.type, field.type.item is not None) for name, field in fields.items())
    return tuple((name, type_.struct, many) for name, type_, many in types if type_.struct)


@cache
def butane_names() -> dict[str, str]:
    """Butane's key for each of Ignition's keys."""
    structs = latest().structs.values()
    return {json: field.name for struct in structs for json, field in struct.ignition.items()}
