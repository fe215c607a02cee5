"""Whatever comes in, a result comes out."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flatcar_gpu.transpile import raw_report, transpile, transpile_tree, validate_ignition
from tests.conformance.corpus import cases

SOURCES = [case.source for case in cases() if len(case.source) < 2000]
TOKENS = [
    b"~",
    b"*a",
    b"&a ",
    b"<<: ",
    b"!!int ",
    b"!!binary ",
    b'"',
    b"'",
    b"- ",
    b": ",
    b"\n",
    b"\t",
    b"\xff",
    b"[]",
    b"{}",
]


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    text = draw(st.sampled_from(SOURCES))
    for _ in range(draw(st.integers(1, 4))):
        at, length = draw(st.integers(0, len(text))), draw(st.integers(0, 8))
        text = text[:at] + draw(st.sampled_from(TOKENS) | st.binary(max_size=3)) + text[at + length :]
    return text


@settings(max_examples=200)
@given(mutated() | st.binary(max_size=200))
def test_no_text_breaks_the_translation(text: bytes) -> None:
    result = transpile(text)
    assert (result.ignition is None) is bool(result.failure)
    if result.ignition is not None:
        json.loads(result.ignition)
        assert not validate_ignition(result.ignition).report.has_errors
    raw_report(result)
    result.findings.as_text({"": text.decode(errors="replace")})


@settings(max_examples=200)
@given(st.binary(max_size=100) | mutated())
def test_no_text_breaks_the_validation(text: bytes) -> None:
    validate_ignition(b'{"ignition":{"version":"3.4.0"},"storage":' + text)
    validate_ignition(text)


LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.just(object())
KEYS = st.sampled_from(["storage", "files", "path", "mode", "contents", "inline", "systemd", "units", "name"]) | LEAVES


@given(st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner), max_leaves=15))
def test_no_data_breaks_the_translation_of_data(data: object) -> None:
    rest = data if isinstance(data, dict) else {"storage": data}
    result = transpile_tree({"variant": "flatcar", "version": "1.0.0", **rest})
    assert (result.ignition is None) is bool(result.failure)


BOMB = "a0: &a0 [x, x]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 9))
MERGES = "a0: &a0 {path: /a}\n" + "".join(
    f"a{i}: &a{i} {{<<: [{', '.join([f'*a{i - 1}'] * 10)}]}}\n" for i in range(1, 9)
)


@pytest.mark.parametrize(
    ("rest", "failure"),
    [
        (BOMB, ""),
        (MERGES + "storage: {files: [{<<: *a8}]}\n", "yaml: document contains excessive aliasing"),
        ("a: &a {<<: *a}\nstorage: {<<: *a}\n", "yaml: anchor 'a' value contains itself"),
        ("storage: " + "{<<: " * 900 + "}" * 900, "yaml: merge keys are nested too deeply"),
        ("storage: " + "[" * 100_000, "Error unmarshaling yaml: yaml: line 3: exceeded max depth of 1000"),
        ("storage:\n" + "  files: []\n" * 5000, 'yaml: unmarshal errors:\n  line 5: mapping key "files"'),
        ("".join(f"key{i}: 1\n" for i in range(5000)), ""),
    ],
)
def test_documents_made_to_cost_much_end_soon(rest: str, failure: str) -> None:
    result = transpile(f"variant: flatcar\nversion: 1.0.0\n{rest}".encode())
    assert result.failure.startswith(failure)
    assert bool(result.failure) is bool(failure)
