"""What Terraform asks for: a JSON object of texts on stdin, read into settings.

Source of the protocol: hashicorp/terraform-provider-external, docs/data-sources/external.md and data_source.go: numbers
and booleans of HCL come as texts, and what is null comes not at all or, from some releases, as an empty text.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from difflib import get_close_matches
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from flatcar_gpu.errors import Failure, InvalidInput
from flatcar_gpu.report import Report
from flatcar_gpu.rules import rules
from flatcar_gpu.settings import Setting, listed, settings
from flatcar_gpu.yaml_positions import shown_value

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flatcar_gpu.flatcar.access import Access


@dataclass(frozen=True, slots=True)
class Query:
    """What was asked for. `spec` is the text of a spec, `values` are settings by their key, which win over it."""

    spec: str | None
    snippets: tuple[str, ...]
    pool: str | None
    ignored: tuple[str, ...]
    strict: bool
    shrink: bool
    values: Mapping[str, Any]
    access: Access


def read_query(data: bytes, access: Access) -> Query:
    """The query in `data`; `access` is how releases are looked up where it says nothing of that.

    Raises InvalidInput with everything that is wrong, at paths such as `query.driver_version`.
    """
    report = Report()
    texts = _texts(data, report)
    declared = _declared()
    read: dict[str, Any] = {}
    for key, text in texts.items():
        try:
            if key in declared:
                read[key] = _setting(declared[key], text)
            elif key in _OTHERS:
                read[key] = _OTHERS[key](text)
            else:
                raise _unknown(key)
        except Failure as failure:
            report.error(failure.message, path=f"query.{key}" if key.isidentifier() else "query", hint=failure.hint)
    if report.has_errors:
        raise InvalidInput(report)
    access_keys = ("index_url", "offline", "timeout")
    return Query(
        spec=read.get("spec"),
        snippets=read.get("snippets", ()),
        pool=read.get("pool"),
        ignored=read.get("ignore", ()),
        strict=read.get("strict", False),
        shrink=read.get("shrink", False),
        values={setting.key: read[name] for name, setting in declared.items() if name in read},
        access=replace(access, **{key: read[key] for key in access_keys if key in read}),
    )


def _texts(data: bytes, report: Report) -> dict[str, str]:
    """The object's texts; those that are empty or null count as not given."""
    try:
        found = parse_json(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise _invalid("query", f"stdin is not UTF-8: {error.reason} at byte {error.start}") from None
    except ValueError as error:
        says = f"stdin is not JSON: {error}" if data.strip() else "stdin is empty"
        raise _invalid("query", says, "this command is the `program` of Terraform's `external` data source") from None
    if not isinstance(found, dict):
        raise _invalid("query", f"expected an object of texts, found {shown_kind(found)}")
    for key, value in found.items():
        if value is not None and not isinstance(value, str):
            report.error(f"expected a text, found {shown_kind(value)}", path=f"query.{key}", hint=_as_text(value))
    return {key: value for key, value in found.items() if isinstance(value, str) and value}


def _as_text(value: Any) -> str:
    return "write jsonencode(...)" if isinstance(value, list | dict) else "put it in quotes"


def parse_json(text: str) -> Any:
    """What the JSON in `text` holds. Raises ValueError with a reason that quotes nothing of it but keys."""
    try:
        found = json.loads(text, object_pairs_hook=_without_twins)
        json.dumps(found, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise ValueError(f"{error.msg} (line {error.lineno}, column {error.colno})") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except UnicodeEncodeError:
        raise ValueError("it holds half of a surrogate pair, which is no character") from None
    return found


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twin = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twin!r} stands in it twice")
    return found


def shown_kind(value: Any) -> str:
    """A value in an error without what may be secret in it: a text is `a text`, a number `a number`."""
    if isinstance(value, str):
        return "a text"
    return shown_value(value) if value is None or isinstance(value, bool | dict | list) else "a number"


def _invalid(path: str, message: str, hint: str = "") -> InvalidInput:
    report = Report()
    report.error(message, path=path, hint=hint)
    return InvalidInput(report)


def is_key(name: str) -> bool:
    """Whether a query may have a key of that name."""
    return name in _OTHERS or name in _declared()


def _declared() -> dict[str, Setting]:
    return {setting.option: setting for setting in settings().values()}


def _unknown(key: str) -> Failure:
    close = get_close_matches(key.lower().replace("-", "_"), [*_OTHERS, *_declared()], n=1)
    known = f"the keys are {', '.join(_OTHERS)} and the options of `flatcar-gpu values` with underscores"
    return Failure(f"there is no key {key!r}", hint=f"did you mean {close[0]!r}?" if close else known)


def _setting(setting: Setting, text: str) -> Any:
    """A text as the value of a setting. Its form is checked later, with that of the spec's values."""
    if setting.kind is bool:
        return _truth(text)
    if setting.kind is tuple:
        return listed(text)
    if issubclass(setting.kind, StrEnum) and text not in setting.choices:
        close = get_close_matches(text, setting.choices, n=1)
        hint = f"did you mean {close[0]!r}?" if close else ""
        raise Failure(f"{text!r} is not one of {', '.join(setting.choices)}", hint=hint)
    return setting.kind(text)


def _truth(text: str) -> bool:
    if text not in ("true", "false"):
        raise Failure(f"expected true or false, found {text!r}")
    return text == "true"


def _seconds(text: str) -> float:
    if not re.fullmatch(r"\d{1,4}(\.\d+)?", text) or not 0 < float(text) <= 3600:
        raise Failure(f"expected seconds, more than 0 and up to 3600, found {text!r}")
    return float(text)


def _rules(text: str) -> tuple[str, ...]:
    names = listed(text)
    for name in names:
        if name not in rules():
            raise Failure(f"there is no rule {name!r}", hint="`flatcar-gpu explain` lists them")
    return names


def _snippets(text: str) -> tuple[str, ...]:
    expected = "expected a JSON array of Butane or Ignition texts"
    hint = 'write jsonencode([file("users.bu")])'
    try:
        found = parse_json(text)
    except ValueError as error:
        raise Failure(f"{expected}: {error}", hint=hint) from None
    if not isinstance(found, list):
        raise Failure(f"{expected}, found {shown_kind(found)}", hint=hint)
    for number, item in enumerate(found):
        if not isinstance(item, str):
            raise Failure(f"{expected}, found {shown_kind(item)} as item {number}", hint=hint)
    return tuple(item for item in found if item)


def _spec(text: str) -> str | None:
    """The spec as JSON without its nulls: so HCL has the attributes of an object that nobody gave."""
    hint = "write jsonencode({...}), or jsonencode(yamldecode(file(...))) for a file"
    try:
        found = parse_json(text)
    except ValueError as error:
        raise Failure(f"expected the JSON of a spec: {error}", hint=hint) from None
    if found is not None and not isinstance(found, dict):
        raise Failure(f"expected the JSON of a spec, an object, found {shown_kind(found)}", hint=hint)
    return json.dumps(_without_nulls(found), ensure_ascii=False) if found else None


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


# Keys that are no settings of a spec, and how each is read. The last three are options of the command, too.
_OTHERS: dict[str, Callable[[str], Any]] = {
    "spec": _spec,
    "snippets": _snippets,
    "pool": str,
    "ignore": _rules,
    "strict": _truth,
    "shrink": _truth,
    "index_url": str,
    "offline": _truth,
    "timeout": _seconds,
}
