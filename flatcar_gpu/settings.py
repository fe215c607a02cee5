"""The declared settings of a spec, one by one: their keys, flags and forms, and replacing and checking their values."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass, replace
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

from flatcar_gpu.report import Problem, Severity
from flatcar_gpu.spec import Spec, key_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flatcar_gpu.forms import Form
    from flatcar_gpu.spec import Scope


@dataclass(frozen=True, slots=True)
class Setting:
    """One declared setting: where it is in the spec (`toolkit.installDir`), and how it is given as a flag."""

    key: str
    attributes: tuple[str, ...]
    flag: str
    help: str
    kind: type
    default: Any
    form: Form | None
    shown_default: str
    scope: Scope

    @property
    def option(self) -> str:
        """The flag as a variable: `driver_version`."""
        return self.flag.split("/")[0].removeprefix("--").replace("-", "_")

    @property
    def choices(self) -> list[str]:
        """The words it may be, where it is one of a closed set."""
        return [str(choice) for choice in self.kind] if issubclass(self.kind, StrEnum) else []

    def value_in(self, spec: Spec) -> Any:
        value: Any = spec
        for attribute in self.attributes:
            value = getattr(value, attribute)
        return value


@cache
def settings() -> Mapping[str, Setting]:
    """All settings by key, in order of declaration."""
    return {setting.key: setting for setting in _settings_of(Spec, ())}


def _settings_of(section: Any, above: tuple[str, ...]) -> Iterator[Setting]:
    hints = get_type_hints(section)
    for item in fields(section):
        attributes = (*above, item.name)
        hint = hints[item.name]
        if isinstance(hint, type) and is_dataclass(hint):
            yield from _settings_of(hint, attributes)
        elif item.metadata:
            key = ".".join(key_of(attribute) for attribute in attributes)
            yield Setting(key, attributes, kind=_kind(hint), default=item.default, **item.metadata)


def _kind(hint: Any) -> type:
    """The plain type of an annotation: `Arch | None` is Arch, `tuple[str, ...]` is tuple."""
    if get_origin(hint) is tuple:
        return tuple
    kind: type = next((kind for kind in get_args(hint) if kind is not type(None)), hint)
    return kind


def listed(text: str) -> tuple[str, ...]:
    """The items of a list that is given as one text, parted by commas."""
    return tuple(item for item in text.split(",") if item)


def with_values(spec: Spec, values: Mapping[str, Any]) -> Spec:
    """`spec` with the settings in `values` (by key) replaced."""
    for key, value in values.items():
        spec = _replaced(spec, settings()[key].attributes, value)
    return spec


def _replaced(section: Any, attributes: tuple[str, ...], value: Any) -> Any:
    name, *below = attributes
    return replace(section, **{name: _replaced(getattr(section, name), tuple(below), value) if below else value})


def form_problems(spec: Spec) -> Iterator[Problem]:
    """Values that do not have the form that their setting declares."""
    for setting in settings().values():
        value = setting.value_in(spec)
        if setting.form is None or value is None:
            continue
        items = [(setting.key, value)] if isinstance(value, str) else _indexed(setting.key, value)
        for key, text in items:
            if not setting.form.fits(text):
                yield Problem(Severity.ERROR, f"{text!r} is not {setting.form.expected}", path=key)


def _indexed(key: str, values: tuple[str, ...]) -> list[tuple[str, str]]:
    return [(f"{key}.{index}", value) for index, value in enumerate(values)]
