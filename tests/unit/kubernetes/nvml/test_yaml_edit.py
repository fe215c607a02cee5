from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from flatcar_gpu.kubernetes.nvml.manifests import Document, Loader, construct
from flatcar_gpu.kubernetes.nvml.yaml_edit import block_text, edited


def edit(text: str, new: Any) -> str:
    node = Document(1, 1, text, "test.yaml").node
    assert node is not None
    return edited(text, node, new)


def meaning(text: str) -> Any:
    return construct(yaml.compose(text, Loader))


@pytest.mark.parametrize(
    ("before", "change", "after"),
    [
        ("a: 1 # one\nb: [x]\n", {"a": 2}, "a: 2 # one\nb: [x]\n"),
        ("a: 1\n", {"b": {"c": 2}}, "a: 1\nb:\n  c: 2\n"),
        ("a: 1", {"b": 2}, "a: 1\nb: 2"),
        ("# top\na:\n  - x # first\n\n# end\n", {"a": ["x", "y"]}, "# top\na:\n  - x # first\n  - y\n\n# end\n"),
        ("a:\n- name: x\n", {"a": [{"name": "x", "v": "1"}]}, "a:\n- name: x\n  v: '1'\n"),
        ("a: []\nb: 1\n", {"a": [1]}, "a:\n- 1\nb: 1\n"),
        ("a:\nb: 1\n", {"a": {"c": 1}}, "a:\n  c: 1\nb: 1\n"),
        ("a: ~\n", {"a": [1]}, "a:\n- 1\n"),
        ("a: {b: 1}\n", {"a": {"b": 1, "c": "x"}}, 'a: {b: 1, "c": "x"}\n'),
        ("a: {b: {}}\n", {"a": {"b": {"c": [1]}}}, 'a: {b: {"c": [1]}}\n'),
        ("a: [1,]\n", {"a": [1, 2]}, "a: [1, 2,]\n"),
        ("a: |\n  text\nb: 1\n", {"c": 2}, "a: |\n  text\nb: 1\nc: 2\n"),
        ("b: 1\na: |\n  text\n", {"c": 2}, "b: 1\na: |\n  text\nc: 2\n"),
        ("a: |\n  text\nb: 1\n", {"a": "other"}, "a: other\nb: 1\n"),
        ("a:\n  b: 1\n  c: 2\nd: 3\n", {"a": {"b": 1}}, "a:\n  b: 1\nd: 3\n"),
        ("a: é☃😀\nb: 1\n", {"b": 2}, "a: é☃😀\nb: 2\n"),
        (
            "a:\n    -   x: 1\n        y: 2\n",
            {"a": [{"x": 1, "y": 2, "z": 3}]},
            "a:\n    -   x: 1\n        y: 2\n        z: 3\n",
        ),
        ("--- # head\na: 1\n", {"a": "yes"}, "--- # head\na: 'yes'\n"),
        ("a: 1\r\nb:\r\n  - x\r\n", {"b": ["x", "l1\nl2\n"]}, "a: 1\r\nb:\r\n  - x\r\n  - |\r\n    l1\r\n    l2\r\n"),
        ('{"a": [{"b": 1}]}\n', {"a": [{"b": 1, "c": "x\ny"}]}, '{"a": [{"b": 1, "c": "x\\ny"}]}\n'),
    ],
)
def test_only_the_change_is_written(before: str, change: dict[str, Any], after: str) -> None:
    assert edit(before, {**meaning(before), **change}) == after


def test_no_change_is_no_edit() -> None:
    text = "a: &x {b: 1}\nc: *x   # kept\n\n\n"
    assert edit(text, meaning(text)) == text


def test_shared_nodes_are_written_out_rather_than_changed_twice() -> None:
    text = "--- # head\na: &x\n  b: 1\nc: *x\n"
    new = {"a": {"b": 2}, "c": {"b": 1}}
    assert edit(text, new) == "--- # head\na:\n  b: 2\nc:\n  b: 1\n"


def test_behind_an_alias_nothing_is_put_in_the_wrong_place() -> None:
    text = "a: &x\n  b: 1\nc: 3\nd: *x\n"
    new = {**meaning(text), "e": 5}
    assert meaning(edit(text, new)) == new


_scalars = (
    st.none() | st.booleans() | st.integers(-9, 99) | st.text("ab: #\n-é'\"", max_size=6) | st.just("two\nlines\n")
)
_names = st.sampled_from(["a", "b", "name", "c d"])
_data = st.recursive(
    _scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_names, inner, max_size=3), max_leaves=8
)
_trees = st.dictionaries(_names, _data, min_size=1, max_size=4)


@settings(max_examples=100, deadline=None)
@given(
    _trees,
    _trees,
    st.sampled_from(["block", "flow", "json", "indented", "crlf"]),
)
def test_the_result_means_what_it_shall(old: dict[str, Any], new: dict[str, Any], style: str) -> None:
    texts = {
        "block": block_text(old),
        "flow": yaml.safe_dump(old, default_flow_style=True, allow_unicode=True),
        "json": json.dumps(old, indent=2),
        "indented": "# c\n" + yaml.safe_dump(old, default_flow_style=None, indent=4) + "# end\n",
        "crlf": block_text(old).replace("\n", "\r\n"),
    }
    text = texts[style]
    assert meaning(text) == old
    merged = {**old, **new}
    result = edit(text, merged)
    assert meaning(result) == merged
    assert edit(result, merged) == result
