from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from flatcar_gpu.helm.yaml_text import Entry, entries_text, tree_of

SCALARS = st.one_of(st.text(), st.booleans(), st.integers(-1000, 1000))
KEYS = st.text(min_size=1, max_size=50)  # YAML wants keys on one line to be short
VALUES = st.one_of(SCALARS, st.lists(SCALARS), st.lists(st.dictionaries(KEYS, SCALARS, min_size=1, max_size=3)))


@given(st.dictionaries(KEYS.filter(lambda key: "." not in key), VALUES, min_size=1, max_size=3))
def test_what_is_written_is_read_back_the_same(tree: dict[str, Any]) -> None:
    text = entries_text([Entry(key, value) for key, value in tree.items()])
    assert yaml.safe_load(text) == tree


@pytest.mark.parametrize(
    "text",
    [
        *("570.195.03", "570", "1e3", "0x10", "2025-01-01", "true", "No", "on", "null", "~", "", "25%", ".5", "12:30"),
        *("sha256:" + "0" * 64, "- a", "a: b", "a #b", "*a", "{}", "NaN", ".inf", "=", "<<"),
    ],
)
def test_a_text_stays_a_text(text: str) -> None:
    assert yaml.safe_load(entries_text([Entry("key", text)])) == {"key": text}


def test_texts_like_numbers_are_quoted_and_plain_words_are_not() -> None:
    entries = [Entry("version", "570.195.03"), Entry("repository", "registry.example.com/nvidia"), Entry("on", True)]
    assert entries_text(entries) == b'version: "570.195.03"\nrepository: registry.example.com/nvidia\n"on": true\n'


def test_a_reason_stands_above_its_line_and_the_comment_above_all() -> None:
    entries = [Entry("driver.enabled", False, "why\nit is so"), Entry("driver.env", [{"name": "A", "value": "1"}], "b")]
    expected = """\
# Values.
#
# Of a chart.
driver:
  # why
  # it is so
  enabled: false
  # b
  env:
    - name: A
      value: "1"
"""
    assert entries_text(entries, "Values.\n\nOf a chart.").decode() == expected


def test_entries_of_a_section_stand_together_whatever_is_between_them() -> None:
    entries = [Entry("a.first", 1), Entry("b", 2), Entry("a.last", 3)]
    assert tree_of(entries) == {"a": {"first": 1, "last": 3}, "b": 2}
    assert entries_text(entries) == b"a:\n  first: 1\n  last: 3\nb: 2\n"
