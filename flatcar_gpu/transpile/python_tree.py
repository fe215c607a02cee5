"""Python data in the shape of a Butane document as the nodes that its YAML would give."""

from __future__ import annotations

from collections.abc import Mapping as AnyMapping
from typing import Any

from flatcar_gpu.transpile.go_text import SURROGATES
from flatcar_gpu.transpile.syntax_tree import AnyNode, Mapping, Scalar, Sequence, YamlError

MAX_DEPTH = 100


def nodes(value: Any, depth: int = 0) -> AnyNode:
    """`value` (mappings, lists, tuples, strings, bytes, numbers, booleans, None) as nodes that have no place in a text.

    Raises YamlError for other types, for strings that are not text, and for what is nested too deeply.
    """
    if depth > MAX_DEPTH:
        raise YamlError(f"exceeded max depth of {MAX_DEPTH}")
    if isinstance(value, str):
        return _text(value, plain=False)
    if isinstance(value, bytes):
        return _text(value.decode(errors=SURROGATES), plain=False)
    if value is None:
        return _text("null", plain=True)
    if isinstance(value, bool):
        return _text("true" if value else "false", plain=True)
    if isinstance(value, int):
        return _text(format(value, "d"), plain=True)
    if isinstance(value, float):
        return _text(repr(value).replace("inf", ".inf").replace("nan", ".nan"), plain=True)
    if isinstance(value, AnyMapping):
        mapping = Mapping("", 0, 0)
        for key, item in value.items():
            mapping.content += (nodes(key, depth + 1), nodes(item, depth + 1))
        return mapping
    if isinstance(value, list | tuple):
        sequence = Sequence("", 0, 0)
        sequence.content += [nodes(item, depth + 1) for item in value]
        return sequence
    raise YamlError(f"{type(value).__name__} is not a type that a config can hold")


def _text(value: str, *, plain: bool) -> Scalar:
    try:
        value.encode(errors=SURROGATES)
    except UnicodeEncodeError:
        raise YamlError(f"{value!r} is not text") from None
    return Scalar(value, plain, "", 0, 0)
