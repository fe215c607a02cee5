"""YAML as go-yaml reads it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flatcar_gpu.transpile import transpile
from flatcar_gpu.transpile.scalars import MAX_INT64, MIN_INT64, is_timestamp, parse_integer, resolve
from flatcar_gpu.transpile.syntax_tree import Mapping, Scalar, YamlError
from flatcar_gpu.transpile.yaml_tree import compose

HEADER = b"variant: flatcar\nversion: 1.0.0\n"


def _uid(text: str) -> object:
    result = transpile(HEADER + f"passwd: {{users: [{{name: a, uid: {text}}}]}}\n".encode())
    return result.config["passwd"]["users"][0].get("uid") if result.config else result.failure.splitlines()[-1].strip()


@given(st.integers(MIN_INT64, MAX_INT64), st.sampled_from(["d", "#x", "#o", "#b"]))
def test_integers_of_every_base_are_read(number: int, form: str) -> None:
    assert _uid(format(number, form)) == number


@given(st.integers(0, MAX_INT64))
def test_a_leading_zero_is_octal(number: int) -> None:
    assert parse_integer(f"0{number:o}") == number


@given(st.integers(0, 10**12))
def test_underscores_do_not_matter(number: int) -> None:
    assert _uid(f"{number:_}") == number


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("420.9", 420),
        ("-0.5", 0),
        (".5", 0),
        ("0888", 888),
        ("4.2e2", 420),
        ("!!float 7", 7),
        ("-.inf", MIN_INT64),
        ("~", None),
        (".inf", "line 3: cannot unmarshal !!float `.inf` into int"),
        ("0o9", "line 3: cannot unmarshal !!str `0o9` into int"),
        ("1_000", 1000),
        ("0x_f", 15),
        ("+5", 5),
        ("1e999", "line 3: cannot unmarshal !!str `1e999` into int"),
        ("2024-02-30", "line 3: cannot unmarshal !!str `2024-02-30` into int"),
        ("2024-02-29", "line 3: cannot unmarshal !!timestamp `2024-02-29` into int"),
    ],
)
def test_what_an_integer_field_takes(text: str, expected: object) -> None:
    assert _uid(text) == expected


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), max_size=20))
def test_quoted_text_comes_out_as_it_went_in(text: str) -> None:
    written = "'" + text.replace("'", "''") + "'"
    if any(breaks in text for breaks in "\x85\u2028\u2029\ufeff\ufffe\uffff"):
        return
    root = compose(f"k: {written}\n".encode())
    assert isinstance(root, Mapping)
    value = root.content[1]
    assert isinstance(value, Scalar)
    assert (value.value, value.plain) == (text, False)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-1-2", True),
        ("2024-01-02T03:04:05Z", True),
        ("2024-01-02t03:04:05.25+01:00", True),
        ("2024-01-02 03:04:05", True),
        ("2024-13-01", False),
        ("2024-01-02T25:00:00Z", False),
        ("24-01-02", False),
        ("2024-01-02x", False),
    ],
)
def test_timestamps(text: str, expected: bool) -> None:
    assert is_timestamp(text) is expected


def test_an_unknown_tag_takes_the_text_as_it_is() -> None:
    assert resolve("!own", "5") == ("!own", "5")


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        (b"a: [b\n", "yaml: line 1: did not find expected ',' or ']'", 2),
        (b"a:\n\t- b\n", "yaml: line 2: found character that cannot start any token", 2),
        (b"a: *b\n", "yaml: unknown anchor 'b' referenced", 1),
        (b'a: "\\/"\n', "yaml: found unknown escape character", 1),
        (b"%YAML 1.2\n---\na: b\n", "yaml: found incompatible YAML document", 1),
        (b"a: \x01\n", "yaml: control characters are not allowed", 0),
        (b"a: " + b"[" * 2000, "yaml: line 1: exceeded max depth of 1000", 1),
    ],
)
def test_errors_have_go_yamls_text_and_the_true_place(text: bytes, message: str, line: int) -> None:
    with pytest.raises(YamlError) as caught:
        compose(text)
    # go-yaml leaves the line out where it counts it as 0.
    assert str(caught.value) in (message, message.replace("line 1: ", ""))
    assert caught.value.line == line


def test_a_slash_behind_an_escaped_backslash_is_fine() -> None:
    root = compose(b"a: \"\\\\/\"\nb: '\\/'\n")
    assert isinstance(root, Mapping)
    assert [node.value for node in root.content if isinstance(node, Scalar)] == ["a", "\\/", "b", "\\/"]
