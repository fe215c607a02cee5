"""A spec from a YAML document: pydantic's findings in our words, each at its place."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter, ValidationError

from flatcar_gpu.report import Problem, Severity
from flatcar_gpu.settings import settings
from flatcar_gpu.spec import Spec, key_of
from flatcar_gpu.yaml_positions import dotted, shown_value

if TYPE_CHECKING:
    from flatcar_gpu.yaml_positions import KeyPath, YamlDocument


def read_spec(document: YamlDocument) -> tuple[Spec, list[Spec]]:
    """The spec in `document`, and that of each of its pools: what the pool says, and of what it does not, the spec.

    What is wrong is in the document's report and left out, so that later checks see the rest.
    """
    tree = document.mapping("a spec", "begin with `driver:` or `apiVersion:`")
    if not tree:
        return Spec(), []
    adapter = _adapter()
    try:
        spec = adapter.validate_python(tree)
    except ValidationError as error:
        for found in error.errors(include_url=False):
            document.report.add(_explained(dict(found), document))
            _leave_out(tree, found["loc"])
        if any(not isinstance(pool, dict) or "name" not in pool for pool in tree.get("pools") or ()):
            tree.pop("pools")
        spec = adapter.validate_python(tree)
    common = {key: value for key, value in tree.items() if key != "pools"}
    pools = ({key: value for key, value in pool.items() if key not in _OF_POOLS} for pool in tree.get("pools") or ())
    return spec, [adapter.validate_python(_over(common, pool)) for pool in pools]


_OF_POOLS = frozenset({"name", "labels", "taints"})


def _over(common: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """`common` with what `own` says in its place; sections are joined, lists and values replaced."""
    joined = dict(common)
    for key, value in own.items():
        section = joined.get(key)
        joined[key] = _over(section, value) if isinstance(section, dict) and isinstance(value, dict) else value
    return joined


def _leave_out(tree: Any, location: KeyPath) -> None:
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


def _explained(error: dict[str, Any], document: YamlDocument) -> Problem:
    """A pydantic error in our words, at its place in the document."""
    key = dotted(error["loc"])
    if error["type"] == "unexpected_keyword_argument":
        return _unknown_key(key, document)
    if error["type"] == "missing":
        section, _, name = key.rpartition(".")
        place = document.values.get(section)
        return Problem(Severity.ERROR, f"{name} is missing", key, place, document.name)
    message, hint = _expectation(error, key)
    return Problem(Severity.ERROR, message, key, document.values.get(key), document.name, hint=hint)


def _unknown_key(key: str, document: YamlDocument) -> Problem:
    section, _, name = key.rpartition(".")
    known = keys_of_section(section)
    close = get_close_matches(name, known, n=1) or [item for item in known if item.lower() == name.lower()]
    hint = f"did you mean {close[0]!r}?" if close else f"the keys here are {', '.join(known)}"
    return Problem(
        Severity.ERROR, f"there is no setting {name!r}", key, document.keys.get(key), document.name, hint=hint
    )


def _expectation(error: dict[str, Any], key: str) -> tuple[str, str]:
    given = error["input"]
    shown = shown_value(given)
    match error["type"]:
        case "enum":
            choices = settings()[_setting_key(key)].choices
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


def _setting_key(key: str) -> str:
    """The setting that a key of the document is about: `pools.3.driver.strategy` is about driver.strategy."""
    parts = key.split(".")
    return ".".join(parts[2:] if parts[0] == "pools" else parts)


def keys_of_section(section: str) -> list[str]:
    """The keys that may stand in a section of the spec file (`""` is the file itself, `driver` its driver)."""
    kind: Any = Spec
    for part in section.split(".") if section else []:
        if part.isdecimal():
            continue
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
