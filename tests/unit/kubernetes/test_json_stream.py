from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flatcar_gpu.errors import Failure
from flatcar_gpu.kubernetes import json_stream
from flatcar_gpu.kubernetes.json_stream import items

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def read(data: bytes, chunk: int = json_stream.CHUNK) -> list[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_stream, "CHUNK", chunk)
        return list(items(io.BytesIO(data), "nodes.json"))


@given(
    st.lists(JSON, max_size=4),
    st.dictionaries(st.text(max_size=5).filter(lambda key: key != "items"), JSON, max_size=2),
    st.sampled_from([None, 4]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    st.integers(4, 40),
)
def test_the_members_are_those_that_json_finds_however_the_text_is_cut(
    members: list[Any], others: dict[str, Any], indent: int | None, encoding: str, chunk: int
) -> None:
    text = json.dumps({"kind": "List", "items": members, **others}, indent=indent, ensure_ascii=False)
    try:
        data = text.encode(encoding)
    except UnicodeEncodeError:  # lone surrogates are no text
        return
    assert read(data, chunk) == members


@given(st.dictionaries(st.text("abc", max_size=5), JSON, max_size=3), st.integers(4, 40))
def test_an_object_without_items_is_the_only_member(alone: dict[str, Any], chunk: int) -> None:
    assert read(json.dumps(alone).encode(), chunk) == [alone]


@given(st.binary(max_size=60) | st.text('{}[]:,"items01 \n', max_size=60).map(str.encode))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        found = read(data, 4)
    except Failure:
        return
    assert isinstance(json.loads(data.decode("utf-8-sig")), dict)
    assert isinstance(found, list)


@pytest.mark.parametrize("chunk", [4, 7, 1000])
@pytest.mark.parametrize(
    ("text", "where", "says"),
    [
        ("", "1:1", "it is empty"),
        ("apiVersion: v1\n", "1:1", "an object is expected"),
        ("[]", "1:1", "an object is expected"),
        ('{\n  "items": [\n    {"a": 1},\n    {"a": ]\n', "4:11", "expecting value"),
        ('{\n  "items": [\n    {"a": 1},\n    {"a"', "4:9", "it ends too early"),
        ('{"items": [1 2]}', "1:14", "a comma or a closing bracket"),
        ('{"items": [1]}\n{}', "2:1", "behind the object"),
        ('{"items": [1],}', "1:15", "expecting value"),
        ('{"a": [1, x]}', "1:11", "expecting value"),
    ],
)
def test_an_error_has_line_and_column_however_the_text_is_cut(text: str, where: str, says: str, chunk: int) -> None:
    with pytest.raises(Failure) as caught:
        read(text.encode(), chunk)
    assert caught.value.message.startswith(f"nodes.json:{where}: ")
    assert says in caught.value.message


def test_text_that_is_nested_too_deeply_is_refused() -> None:
    with pytest.raises(Failure, match="nested too deeply"):
        read(b'{"items": [' + b"[" * 100_000)


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(Failure, match=r"nodes\.json is not text in utf-8"):
        read(b'{"a": "\xff\xff"}')
