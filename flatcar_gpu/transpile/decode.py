"""YAML nodes as a Butane config: dicts of the keys that are set, in the way go-yaml fills Butane's types."""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as Base64Error
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flatcar_gpu.transpile.go_text import SURROGATES, quote, size
from flatcar_gpu.transpile.scalars import (
    BINARY,
    BOOLEAN_WORDS,
    MAP,
    MAX_INT64,
    MERGE,
    MIN_INT64,
    NULLS,
    SEQ,
    STR,
    TagMismatch,
    Value,
    resolve,
)
from flatcar_gpu.transpile.schema import Kind, Struct, Type
from flatcar_gpu.transpile.syntax_tree import Alias, AnyNode, Mapping, Scalar, Sequence, YamlError

if TYPE_CHECKING:
    from collections.abc import Sequence as Seq

Tree = dict[str, Any]

# What a null and a value that does not fit decode to; a field that is set never is None.
UNSET = None

# More pairs of equal keys than this are not told one by one; go-yaml would list all n * n of them.
MAX_DUPLICATES = 200


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One place of the document that does not fit."""

    node: AnyNode
    text: str


class TypeErrors(YamlError):
    """The document does not fit the types; `errors` has all places, in order."""

    def __init__(self, errors: Seq[Mismatch]) -> None:
        lines = "".join(f"\n  line {error.node.line}: {error.text}" for error in errors)
        super().__init__(f"unmarshal errors:{lines}")
        self.errors = errors


def decode(root: AnyNode | None, type_: Type) -> tuple[Tree, bool]:
    """The config in `root`, and whether all of its keys are known and stand where they are expected.

    In the config strings that are not UTF-8 hold surrogates; nothing in it is None.
    Raises TypeErrors for what does not fit the types, YamlError for aliases and tags that go-yaml refuses.
    """
    decoder = _Decoder()
    try:
        config = decoder.value(root, type_) if root is not None else UNSET
    except TagMismatch as mismatch:
        raise YamlError(str(mismatch), decoder.line) from None
    except RecursionError:
        raise YamlError("merge keys are nested too deeply") from None
    if decoder.errors:
        raise TypeErrors(decoder.errors)
    return (config if isinstance(config, dict) else {}), decoder.regular


class _Decoder:
    __slots__ = ("alias_depth", "alias_steps", "entered", "errors", "line", "merged", "regular", "steps")

    def __init__(self) -> None:
        self.errors: list[Mismatch] = []
        self.regular = True
        self.steps = 0
        self.alias_steps = 0
        self.alias_depth = 0
        self.entered: set[int] = set()
        self.merged: set[str] | None = None
        self.line = 0

    def value(self, node: AnyNode, type_: Type, into: Tree | None = None) -> Any:
        """What `node` is as a `type_`, UNSET for null and for what does not fit."""
        self.steps += 1
        if self.alias_depth:
            self._count_alias_step()
        kind = node.__class__
        if kind is Scalar:
            return self.scalar(node, type_)  # type: ignore[arg-type]
        if kind is Mapping:
            return self.mapping(node, type_, into)  # type: ignore[arg-type]
        if kind is Sequence:
            return self.sequence(node, type_)  # type: ignore[arg-type]
        return self.alias(node, type_, into)  # type: ignore[arg-type]

    def _count_alias_step(self) -> None:
        # go-yaml's guard against documents that grow without end through their aliases.
        self.alias_steps += 1
        if self.alias_steps > 100 and self.steps > 1000 and self.alias_steps / self.steps > _alias_share(self.steps):
            raise YamlError("document contains excessive aliasing")

    def alias(self, node: Alias, type_: Type, into: Tree | None) -> Any:
        self.regular = False
        if id(node) in self.entered:
            raise YamlError(f"anchor '{node.value}' value contains itself", node.line, node.column)
        self.entered.add(id(node))
        self.alias_depth += 1
        value = self.value(node.target, type_, into)
        self.alias_depth -= 1
        self.entered.discard(id(node))
        return value

    def scalar(self, node: Scalar, type_: Type) -> Value:
        kind = type_.kind
        if kind is Kind.STRING and not node.tag:
            return UNSET if node.plain and node.value in NULLS else node.value
        self.line = node.line
        tag, value = self.resolved(node)
        if value is None:
            if kind is Kind.OBJECT:
                self.regular = False
            return UNSET
        if kind is Kind.STRING:
            return str(value) if tag == BINARY else node.value
        if kind is Kind.INTEGER:
            if value.__class__ is int and value <= MAX_INT64:
                return value
            if value.__class__ is float and value <= 2.0**63:
                # Go truncates, and what does not fit becomes the smallest integer.
                return int(value) if -(2.0**63) <= value < 2.0**63 else MIN_INT64
        elif kind is Kind.BOOLEAN:
            if value.__class__ is bool:
                return value
            if value.__class__ is str and value in BOOLEAN_WORDS:
                return BOOLEAN_WORDS[value]
        self.mismatch(node, tag, type_)
        return UNSET

    @staticmethod
    def resolved(node: Scalar) -> tuple[str, Value]:
        tag = node.tag
        if not node.plain and tag in ("", "!"):
            return STR, node.value
        if tag == BINARY:
            return BINARY, _binary(node)
        return resolve("" if tag == "!" else tag, node.value)

    def mismatch(self, node: AnyNode, tag: str, type_: Type) -> None:
        shown = ""
        if tag not in (SEQ, MAP):
            value = node.value if isinstance(node, Scalar) else ""
            shown = f" `{_shortened(value)}`"
        self.errors.append(Mismatch(node, f"cannot unmarshal {tag}{shown} into {type_.go}"))

    def sequence(self, node: Sequence, type_: Type) -> list[Any] | None:
        if type_.item is None:
            self.mismatch(node, node.tag or SEQ, type_)
            return UNSET
        item_type = type_.item
        items = [self.value(item, item_type) for item in node.content]
        if UNSET in items:
            items = [item for item in items if item is not UNSET]
        return items

    def mapping(self, node: Mapping, type_: Type, into: Tree | None) -> Tree | None:
        content = node.content
        keys = [key.value for key in content[::2] if key.__class__ is Scalar]
        if (len(keys) != len(set(keys)) or len(keys) != len(content) // 2) and self.duplicates(node):
            return UNSET
        if type_.struct is None:
            self.mismatch(node, node.tag or MAP, type_)
            return UNSET
        return self.struct(node, type_, into if into is not None else {})

    def duplicates(self, node: Mapping) -> bool:
        before = len(self.errors)
        places: dict[tuple[type, str], list[AnyNode]] = {}
        keys = node.content[::2]
        for key in keys:
            places.setdefault(_key(key), []).append(key)
        for index, key in enumerate(keys):
            if len(self.errors) - before >= MAX_DUPLICATES:
                break
            same = places[_key(key)]
            if len(same) < 2:
                continue
            del same[0]
            name = quote(_key(key)[1])
            for later in same[:MAX_DUPLICATES]:
                text = f"mapping key {name} already defined at line {keys[index].line}"
                self.errors.append(Mismatch(later, text))
        return len(self.errors) > before

    def struct(self, node: Mapping, type_: Type, values: Tree) -> Tree:
        struct: Struct = type_.struct  # type: ignore[assignment]
        fields = struct.fields
        merged, self.merged = self.merged, None
        merge: AnyNode | None = None
        done: set[str] = set()
        content = iter(node.content)
        for key in content:
            value_node = next(content)
            name: str | None = key.value if key.__class__ is Scalar and not key.tag else ""
            field = fields.get(name)  # type: ignore[arg-type]
            if field is None:
                self.regular = False
                if _is_merge(key):
                    merge = value_node
                    continue
                name = self.key(key)
                field = fields.get(name) if name is not None else None
                if name is None:
                    continue
            else:
                self.steps += 1
                if self.alias_depth:
                    self._count_alias_step()
            if merged is not None:
                if name in merged:
                    continue
                merged.add(name)  # type: ignore[arg-type]
            if field is None:
                continue
            if name in done:
                self.errors.append(Mismatch(key, f"field {name} already set in type {type_.go}"))
                continue
            done.add(name)  # type: ignore[arg-type]
            value = self.value(value_node, field.type)
            if value is not UNSET:
                values[name] = value  # type: ignore[index]
        self.merged = merged
        if merge is not None:
            self.merge(node, merge, type_, values)
        return values

    def key(self, node: AnyNode) -> str | None:
        """A key that is not simply the name of a field: the text of its scalar, None for null and for lists."""
        key: str | None = self.value(node, _KEY)
        return key

    def merge(self, parent: Mapping, merge: AnyNode, type_: Type, values: Tree) -> None:
        """Fill `values` from the value of the merge key `<<`, where the mapping itself leaves them open."""
        outer = self.merged
        if outer is None:
            self.merged = set(map(_name, parent.content[::2]))
        sources = merge.content if isinstance(merge, Sequence) else [merge]
        for source in sources:
            target = source.target if isinstance(source, Alias) else source
            if not isinstance(target, Mapping):
                raise YamlError("map merge requires map or sequence of maps as the value", source.line, source.column)
            self.value(source, type_, values)
        self.merged = outer


_KEY = Type(Kind.STRING, "string")


def _key(node: AnyNode) -> tuple[type, str]:
    return (node.__class__, node.value if isinstance(node, Scalar | Alias) else "")


def _name(key: AnyNode) -> str:
    target = key.target if isinstance(key, Alias) else key
    return target.value if isinstance(target, Scalar) else ""


def _is_merge(key: AnyNode) -> bool:
    if key.__class__ is not Scalar or key.value != "<<":
        return False
    return key.tag == MERGE or (key.tag == "" and key.plain) or key.tag == "!"


def _binary(node: Scalar) -> str:
    text = node.value.replace("\n", "").replace("\r", "")
    try:
        return b64decode(text, validate=True).decode(errors=SURROGATES)
    except (Base64Error, ValueError):
        raise YamlError("!!binary value contains invalid base64 data", node.line, node.column) from None


def _shortened(value: str) -> str:
    if size(value) <= 10:
        return value
    return value.encode(errors=SURROGATES)[:7].decode(errors="replace") + "..."


def _alias_share(steps: int) -> float:
    low, high = 400_000, 4_000_000
    if steps <= low:
        return 0.99
    if steps >= high:
        return 0.10
    return 0.99 - 0.89 * ((steps - low) / (high - low))
