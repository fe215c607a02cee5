"""Go's text functions, data URLs and JSON."""

from __future__ import annotations

import base64
import gzip
import json
import posixpath
from urllib.parse import unquote_to_bytes

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from flatcar_gpu.transpile import encode
from flatcar_gpu.transpile.data_url import data_url
from flatcar_gpu.transpile.go_text import clean, extension, join, quote, size

PATHS = st.text("/.a-", max_size=20)


@given(PATHS)
def test_a_clean_path_stays_as_it_is(path: str) -> None:
    assert clean(clean(path)) == clean(path)


@given(PATHS)
@example("//a")
def test_clean_is_normpath_without_its_two_slashes(path: str) -> None:
    normal = posixpath.normpath(path)
    assert clean(path) == (normal[1:] if normal.startswith("//") else normal)


@given(st.lists(PATHS, max_size=4))
def test_joined_is_the_clean_path_of_what_is_not_empty(parts: list[str]) -> None:
    given_parts = [part for part in parts if part]
    assert join(*parts) == (clean("/".join(given_parts)) if given_parts else "")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a.b/c", ""),
        ("a.service", ".service"),
        ("a@b.c.timer", ".timer"),
        (".hidden", ".hidden"),
        ("a.", "."),
        ("", ""),
    ],
)
def test_extension(path: str, expected: str) -> None:
    assert extension(path) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", '"plain"'),
        ('a"b\\c', r'"a\"b\\c"'),
        ("\a\b\f\n\r\t\v", r'"\a\b\f\n\r\t\v"'),
        ("\x00\x7f", r'"\x00\x7f"'),
        ("é😀", '"é😀"'),
        ("\u200b\u2028\xa0\xad", r'"\u200b\u2028\u00a0\u00ad"'),
        ("\U000e0001", r'"\U000e0001"'),
        ("\udcff", r'"\xff"'),
    ],
)
def test_quote(text: str, expected: str) -> None:
    assert quote(text) == expected


def test_size_counts_bytes() -> None:
    assert (size("abc"), size("é"), size("😀"), size("\udcff")) == (3, 2, 4, 1)


def unpack(url: str, *, gzipped: bool) -> bytes:
    encoding, _, body = url.removeprefix("data:").partition(",")
    data = base64.b64decode(body, validate=True) if encoding == ";base64" else unquote_to_bytes(body)
    return gzip.decompress(data) if gzipped else data


@given(st.binary(max_size=300) | st.binary(max_size=20).map(lambda data: data * 40), st.booleans())
def test_a_data_url_holds_the_contents(contents: bytes, compress: bool) -> None:
    url, gzipped = data_url(contents, compress=compress)
    assert unpack(url, gzipped=gzipped) == contents
    assert compress or not gzipped


@given(st.binary(max_size=200))
def test_of_the_two_plain_spellings_the_shorter_is_taken(contents: bytes) -> None:
    url, _ = data_url(contents, compress=False)
    in_base64 = "data:;base64," + base64.b64encode(contents).decode()
    assert len(url) <= len(in_base64)
    if url != in_base64:
        kept = set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.!~*'()%")
        assert set(url.removeprefix("data:,")) <= kept


def test_gzip_is_the_same_at_any_time() -> None:
    assert data_url(b"a" * 1000, compress=True) == data_url(b"a" * 1000, compress=True)
    assert data_url(b"a" * 1000, compress=True)[0].startswith("data:;base64,H4sIAAAAAAAC/")


JSON_TREES = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(JSON_TREES, st.booleans())
def test_encoded_is_json_of_the_same_tree(tree: object, pretty: bool) -> None:
    text = encode(tree, pretty)
    assert json.loads(text) == tree
    assert text.endswith(b"\n")
    assert not set("<>&\u2028\u2029") & set(text.decode())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\b\f\n\r\t\x01\x7f", b'"\\u0008\\u000c\\n\\r\\t\\u0001\x7f"'),
        ("\\b\\\\f", b'"\\\\b\\\\\\\\f"'),
        ("<&>/", b'"\\u003c\\u0026\\u003e/"'),
        ("\u2028\ufffd", '"\\u2028\ufffd"'.encode()),
        (b"\xe2\x82\n".decode(errors="surrogateescape"), b'"\\ufffd\\ufffd\\n"'),
    ],
)
def test_strings_are_escaped_as_go_does(text: str, expected: bytes) -> None:
    assert encode(text) == expected + b"\n"
