"""YAML text as a tree of nodes with places, the way go-yaml reads it.

libyaml's events come from PyYAML's C parser; what go-yaml refuses and libyaml accepts is refused here.
"""

from __future__ import annotations

import re
from typing import Any

from yaml.cyaml import CParser
from yaml.error import MarkedYAMLError
from yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
    StreamStartEvent,
)
from yaml.parser import ParserError
from yaml.reader import ReaderError
from yaml.scanner import ScannerError

# What newer versions of libyaml allow; go-yaml goes down to 10000.
MAX_DEPTH = 1000
_TAG_PREFIX = "tag:yaml.org,2002:"
_ESCAPED_SLASH = re.compile(r"(?<!\\)(?:\\\\)*\\/")


class YamlError(Exception):
    """The text is not YAML that go-yaml reads.

    `str(error)` is go-yaml's text (`yaml: line 4: …`), `line` and `column` the place from 1 on, 0 where unknown.
    """

    def __init__(self, text: str, line: int = 0, column: int = 0) -> None:
        super().__init__(f"yaml: {text}")
        self.line = line
        self.column = column


class Node:
    """A place in the document; `line` and `column` count from 1, 0 for trees that never were text."""

    __slots__ = ("column", "line", "tag")

    tag: str
    """The short tag (`!!str`, `!own`) as written, empty where none is."""


class Scalar(Node):
    __slots__ = ("plain", "value")

    def __init__(self, value: str, plain: bool, tag: str, line: int, column: int) -> None:
        self.value = value
        self.plain = plain
        self.tag = tag
        self.line = line
        self.column = column


class Mapping(Node):
    __slots__ = ("content",)

    def __init__(self, tag: str, line: int, column: int) -> None:
        self.content: list[AnyNode] = []
        """Keys and values by turns."""
        self.tag = tag
        self.line = line
        self.column = column


class Sequence(Node):
    __slots__ = ("content",)

    def __init__(self, tag: str, line: int, column: int) -> None:
        self.content: list[AnyNode] = []
        self.tag = tag
        self.line = line
        self.column = column


class Alias(Node):
    __slots__ = ("target", "value")

    def __init__(self, value: str, target: AnyNode, line: int, column: int) -> None:
        self.value = value
        self.target = target
        self.tag = ""
        self.line = line
        self.column = column


AnyNode = Scalar | Mapping | Sequence | Alias


def compose(data: bytes) -> AnyNode | None:
    """The first document of `data`, None where there is none.

    Raises YamlError with go-yaml's text for what go-yaml does not read.
    """
    try:
        parser = CParser(data)
    except ReaderError as error:
        raise YamlError(str(error.reason)) from None
    try:
        return _compose(parser, data)
    except ReaderError as error:
        raise YamlError(str(error.reason)) from None
    except MarkedYAMLError as error:
        raise _syntax_error(error) from None
    finally:
        parser.dispose()


def _compose(parser: Any, data: bytes) -> AnyNode | None:
    next_event = parser.get_event
    text = _decoded(data) if b"\\/" in data or b"\\\0/" in data or b"\0\\\0/" in data else ""
    anchors: dict[str, AnyNode] = {}
    document: list[AnyNode] = []
    content = document
    parents: list[list[AnyNode]] = []
    node: AnyNode
    while True:
        event = next_event()
        kind = event.__class__
        if kind is ScalarEvent:
            mark = event.start_mark
            style = event.style
            if text and style == '"' and "/" in event.value:
                _refuse_escaped_slash(event, text)
            tag = event.tag
            node = Scalar(event.value, not style, _short(tag) if tag else "", mark.line + 1, mark.column + 1)
            content.append(node)
            if event.anchor:
                anchors[event.anchor] = node
        elif kind is MappingStartEvent or kind is SequenceStartEvent:
            mark = event.start_mark
            if len(parents) >= MAX_DEPTH:
                raise YamlError(f"line {mark.line + 1}: exceeded max depth of {MAX_DEPTH}", mark.line + 1)
            tag = event.tag
            of_kind = Mapping if kind is MappingStartEvent else Sequence
            node = of_kind(_short(tag) if tag else "", mark.line + 1, mark.column + 1)
            content.append(node)
            if event.anchor:
                anchors[event.anchor] = node
            parents.append(content)
            content = node.content
        elif kind is MappingEndEvent or kind is SequenceEndEvent:
            content = parents.pop()
        elif kind is AliasEvent:
            target = anchors.get(event.anchor)
            mark = event.start_mark
            if target is None:
                raise YamlError(f"unknown anchor '{event.anchor}' referenced", mark.line + 1, mark.column + 1)
            content.append(Alias(event.anchor, target, mark.line + 1, mark.column + 1))
        elif kind is DocumentStartEvent:
            if event.version not in (None, (1, 1)):
                line = event.start_mark.line
                raise YamlError((f"line {line}: " if line else "") + "found incompatible YAML document", line + 1)
        elif kind is DocumentEndEvent:
            _look_behind_the_document(next_event)
            return document[0]
        elif kind is StreamEndEvent:
            return None
        elif kind is not StreamStartEvent:
            raise AssertionError(f"libyaml has no event {kind.__name__}")


def _look_behind_the_document(next_event: Any) -> None:
    # go-yaml's scanner runs ahead of its parser, so it also fails on a second document that does not scan.
    try:
        if next_event().__class__ is DocumentStartEvent:
            next_event()
    except ParserError:
        pass


def _short(tag: str) -> str:
    return "!!" + tag[len(_TAG_PREFIX) :] if tag.startswith(_TAG_PREFIX) else tag


def _syntax_error(error: MarkedYAMLError) -> YamlError:
    """go-yaml's text: the line of the context, else of the problem; of parser errors it is one too low."""
    problem = error.problem or "unknown problem parsing YAML content"
    problem = problem.replace("exceeded maximum nesting depth", f"exceeded max depth of {MAX_DEPTH}")
    lines = [mark.line for mark in (error.context_mark, error.problem_mark) if mark is not None]
    line = next((line for line in lines if line), 0)
    if line and isinstance(error, ScannerError):
        line += 1
    at = error.problem_mark or error.context_mark
    place = (at.line + 1, at.column + 1) if at is not None else (0, 0)
    return YamlError((f"line {line}: " if line else "") + problem, *place)


def _refuse_escaped_slash(event: Any, text: str) -> None:
    """YAML 1.2's escape for a slash, which libyaml knows and go-yaml does not."""
    start, end = event.start_mark, event.end_mark
    if _ESCAPED_SLASH.search(text, start.index, end.index):
        line = (start.line or end.line) + 1
        where = f"line {line}: " if line > 1 else ""
        raise YamlError(where + "found unknown escape character", start.line + 1, start.column + 1)


def _decoded(data: bytes) -> str:
    for mark, encoding in ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    return data.decode(errors="replace")
