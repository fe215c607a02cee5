"""JSON as Go reads it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flatcar_gpu.transpile.json_tree import JsonError, read_json
from flatcar_gpu.transpile.scalars import BOOL, FLOAT, NULL
from flatcar_gpu.transpile.syntax_tree import AnyNode, Mapping, Scalar, Sequence

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def plain(node: AnyNode) -> Any:
    if isinstance(node, Mapping):
        keys = [plain(key) for key in node.content[::2]]
        return dict(zip(keys, map(plain, node.content[1::2]), strict=True))
    if isinstance(node, Sequence):
        return [plain(item) for item in node.content]
    assert isinstance(node, Scalar)
    return json.loads(node.value) if node.tag in (NULL, BOOL, FLOAT) else node.value


@given(VALUES, st.sampled_from([None, 2]), st.booleans())
def test_whatever_json_writes_is_read(value: Any, indent: int | None, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert plain(read_json(text.encode(errors="surrogatepass"))) == value


@given(st.text(alphabet='{}[]:,"\\u0123eE+-.tfn \n', max_size=12))
def test_what_is_refused_is_what_json_refuses(text: str) -> None:
    try:
        json.loads(text)
    except ValueError:
        with pytest.raises(JsonError):
            read_json(text.encode())
    else:
        read_json(text.encode())


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("", "unexpected end of JSON input", (1, 1)),
        ("hello", "invalid character 'h' looking for beginning of value", (1, 1)),
        ("nope", "invalid character 'o' in literal null (expecting 'u')", (1, 2)),
        ('{"a"\n 1}', "invalid character '1' after object key", (2, 2)),
        ('{"a":1 "b"}', "invalid character '\"' after object key:value pair", (1, 8)),
        ("{a}", "invalid character 'a' looking for beginning of object key string", (1, 2)),
        ("[1 2]", "invalid character '2' after array element", (1, 4)),
        ("[01]", "invalid character '1' after array element", (1, 3)),
        ("[1.]", "invalid character ']' after decimal point in numeric literal", (1, 4)),
        ("[1e+]", "invalid character ']' in exponent of numeric literal", (1, 5)),
        ("[-]", "invalid character ']' in numeric literal", (1, 3)),
        ('"\\x"', "invalid character 'x' in string escape code", (1, 3)),
        ('"\\u00g0"', "invalid character 'g' in \\u hexadecimal character escape", (1, 6)),
        ('"a\nb"', "invalid character '\\n' in string literal", (1, 3)),
        ("{} x", "invalid character 'x' after top-level value", (1, 4)),
        ("é", "invalid character 'Ã' looking for beginning of value", (1, 1)),
        ("tru", "invalid character ' ' in literal true (expecting 'e')", (1, 4)),
    ],
)
def test_errors_have_gos_text_and_a_place(text: str, message: str, place: tuple[int, int]) -> None:
    with pytest.raises(JsonError) as caught:
        read_json(text.encode())
    assert (str(caught.value), (caught.value.line, caught.value.column)) == (message, place)


def test_no_depth_breaks_the_reader() -> None:
    assert isinstance(read_json(b"[" * 9000 + b"]" * 9000), Sequence)
    with pytest.raises(JsonError, match="exceeded max depth"):
        read_json(b"[" * 100_000)
