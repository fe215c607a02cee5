"""Rules about the keys of the chart's values and what stands at them."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from flatcar_gpu.helm.keys import keys, sections
from flatcar_gpu.rules.registry import Finding, Subject, rule
from flatcar_gpu.yaml_positions import shown_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flatcar_gpu.helm.values import Values

_TABLE = "values.yaml and ClusterPolicy CRD of the chart's tags; flatcar_gpu/helm/data/keys.yaml"


@rule(
    "FG300",
    "the chart ignores this key",
    subject=Subject.VALUES,
    why="The chart has no schema: a misspelt key is passed over without a word, and its default stays in force.",
    source=f"helm template of the chart; {_TABLE}",
    remedy="remove the key",
)
def keys_are_known(values: Values) -> Iterator[Finding]:
    for path, _, key in values.walk():
        if key is None:
            section, _, name = path.rpartition(".")
            yield Finding(path, f"the chart has no {path}", _spelt(section, name))


def _spelt(section: str, name: str) -> str:
    known = sections()[section]
    close = get_close_matches(name, known, n=1) or [item for item in known if item.lower() == name.lower()]
    if close:
        return f"did you mean {close[0]!r}?"
    elsewhere = [f"{above}.{name}" if above else name for above, names in sections().items() if name in names]
    if len(elsewhere) == 1:
        return f"did you mean {elsewhere[0]!r}?"
    return "the keys here are " + ", ".join(known)


@rule(
    "FG301",
    "this chart does not have the key",
    subject=Subject.VALUES,
    why="A key that came with a later chart, or is gone, is passed over without a word.",
    source=_TABLE,
    remedy="use a chart that has it (--chart-version)",
)
def keys_are_of_the_chart(values: Values) -> Iterator[Finding]:
    for path, _, key in values.walk():
        if key is None or key.is_in(values.chart):
            continue
        if key.since is not None and values.chart < key.since:
            says = f"chart {values.chart} has no {path}: it came with {key.since}"
            yield Finding(path, says, f"use --chart-version {key.since} or later, or leave it out")
        else:
            yield Finding(path, f"chart {values.chart} has no {path}: it is gone since {key.until}", "remove the key")


@rule(
    "FG302",
    "a value of the wrong type",
    subject=Subject.VALUES,
    why="The chart's templates or the ClusterPolicy's schema take it for something else, or refuse it.",
    source=_TABLE,
    remedy="write the value as the key's type wants it",
)
def values_have_their_types(values: Values) -> Iterator[Finding]:
    for path, value, key in values.walk():
        if key is not None and (expected := key.misfit(value)):
            yield _mistyped(path, value, expected, values.texts.get(path, ""))
        if key is not None and key.type == "env" and isinstance(value, list):
            yield from _mistyped_variables(path, value, values)
    yield from _sections_that_are_none(values.tree, "")


def _mistyped_variables(path: str, items: list[Any], values: Values) -> Iterator[Finding]:
    for index, item in enumerate(items):
        at = f"{path}.{index}"
        if not isinstance(item, dict) or not isinstance(item.get("name"), str):
            yield Finding(
                at, f"expected `name` and `value`, found {shown_value(item)}", "write {name: ..., value: ...}"
            )
        elif item.get("value") is not None and not isinstance(item["value"], str):
            yield _mistyped(f"{at}.value", item["value"], "a text", values.texts.get(f"{at}.value", ""))


def _mistyped(path: str, value: Any, expected: str, text: str) -> Finding:
    written = text or str(value)
    if expected == "a text" and isinstance(value, (int, float)):
        hint = f'quote it: "{written}"' + (" (YAML drops a closing zero)" if isinstance(value, float) else "")
        return Finding(path, f"expected a text, found {written}", hint)
    if isinstance(value, str) and value.lower() in ("true", "false") and expected == "true or false":
        hint = f"write {value.lower()} without quotes: templates take any text for true"
        return Finding(path, f"expected true or false, found the text {value!r}", hint)
    says = f"expected {expected}, found {shown_value(value)}"
    return Finding(path, says, "write it as the chart's values.yaml does")


def _sections_that_are_none(tree: dict[str, Any], section: str) -> Iterator[Finding]:
    for name, value in tree.items():
        path = f"{section}.{name}" if section else name
        if path not in sections() or path in keys():
            continue
        if isinstance(value, dict):
            yield from _sections_that_are_none(value, path)
        elif value is None:
            says = "expected a mapping, found nothing: that removes the chart's defaults, which its templates need"
            yield Finding(path, says, f"remove {path}, or write {{}}")
        else:
            yield Finding(
                path, f"expected a mapping, found {value!r}", "the keys here are " + ", ".join(sections()[path])
            )
