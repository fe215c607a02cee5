"""YAML text as a tree of nodes with places, the way go-yaml reads it.

libyaml's events come from PyYAML's C parser; what go-yaml refuses and libyaml accepts is refused here.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from yaml.cyaml import CParser  # type: ignore[attr-defined]
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
)
from yaml.parser import ParserError
from yaml.reader import ReaderError
from yaml.scanner import ScannerError
from yaml.tokens import BlockEndToken

from flatcar_gpu.transpile.syntax_tree import Alias, Mapping, Scalar, Sequence, YamlError

if TYPE_CHECKING:
    from collections.abc import Callable

    from flatcar_gpu.transpile.syntax_tree import AnyNode

# What newer versions of libyaml allow; go-yaml goes down to 10000.
MAX_DEPTH = 1000
_TAG_PREFIX = "tag:yaml.org,2002:"
_ESCAPED_SLASH = re.compile(r"(?<!\\)(?:\\\\)*\\/")


class UnknownAnchor(YamlError):
    """An alias of nothing."""

    def __init__(self, event: Any) -> None:
        self.problem_mark = event.start_mark
        problem = f"unknown anchor '{event.anchor}' referenced"
        super().__init__(problem, self.problem_mark.line + 1, self.problem_mark.column + 1)


def compose(data: bytes) -> AnyNode | None:
    """The first document of `data`, None where there is none.

    Raises YamlError with go-yaml's text for what go-yaml does not read.
    """
    try:
        return _compose(data)
    except ReaderError as error:
        raise YamlError(str(error.reason)) from None
    except MarkedYAMLError as error:
        raise _syntax_error(error) from None


def _compose(data: bytes) -> AnyNode | None:
    parser = CParser(data)
    try:
        return _Composer(data).run(parser.get_event)
    except (ParserError, UnknownAnchor) as error:
        if error.problem_mark is not None:
            _scan_ahead(data, error.problem_mark.index)
        raise
    finally:
        parser.dispose()


class _Composer:
    def __init__(self, data: bytes) -> None:
        # Only then is there an escaped slash to be refused, in UTF-8 or UTF-16.
        has_slashes = b"\\/" in data or b"\\\0/" in data or b"\0\\\0/" in data
        self.text = _decoded(data) if has_slashes else ""
        self.data = data
        self.anchors: dict[str, AnyNode] = {}
        self.document: list[AnyNode] = []
        self.content = self.document
        self.parents: list[list[AnyNode]] = []

    def run(self, next_event: Callable[[], Any]) -> AnyNode | None:
        steps: dict[type, Callable[[Any], None]] = {
            ScalarEvent: self.scalar,
            MappingStartEvent: self.collection,
            SequenceStartEvent: self.collection,
            MappingEndEvent: self.collection_end,
            SequenceEndEvent: self.collection_end,
            AliasEvent: self.alias,
            DocumentStartEvent: self.document_start,
        }
        while True:
            event: Any = next_event()
            kind = event.__class__
            step = steps.get(kind)
            if step is not None:
                step(event)
            elif kind is DocumentEndEvent:
                self.look_behind(next_event, event.start_mark.index)
                return self.document[0]
            elif kind is StreamEndEvent:
                return None

    def scalar(self, event: Any) -> None:
        style = event.style
        if self.text and style == '"' and "/" in event.value:
            _refuse_escaped_slash(event, self.text)
        mark, tag = event.start_mark, event.tag
        node = Scalar(event.value, not style, _short(tag) if tag else "", mark.line + 1, mark.column + 1)
        self.content.append(node)
        if event.anchor:
            self.anchors[event.anchor] = node

    def collection(self, event: Any) -> None:
        mark, tag = event.start_mark, event.tag
        if len(self.parents) >= MAX_DEPTH:
            where = f"line {mark.line + 1}: "
            raise YamlError(f"exceeded max depth of {MAX_DEPTH}", mark.line + 1, mark.column + 1, where=where)
        kind = Mapping if event.__class__ is MappingStartEvent else Sequence
        node = kind(_short(tag) if tag else "", mark.line + 1, mark.column + 1)
        self.content.append(node)
        if event.anchor:
            self.anchors[event.anchor] = node
        self.parents.append(self.content)
        self.content = node.content

    def collection_end(self, _: Any) -> None:
        self.content = self.parents.pop()

    def alias(self, event: Any) -> None:
        target = self.anchors.get(event.anchor)
        if target is None:
            raise UnknownAnchor(event)
        self.content.append(Alias(event.anchor, target, event.start_mark.line + 1, event.start_mark.column + 1))

    def document_start(self, event: Any) -> None:
        if event.version not in (None, (1, 1)):
            line = event.start_mark.line
            where = f"line {line}: " if line else ""
            raise YamlError("found incompatible YAML document", line + 1, where=where)

    def look_behind(self, next_event: Callable[[], Any], index: int) -> None:
        """Only the first document is read, but what follows must scan as far as go-yaml looks."""
        try:
            if next_event().__class__ is StreamEndEvent:
                return
        except ParserError:
            pass
        _scan_ahead(self.data, index)


def _scan_ahead(data: bytes, index: int) -> None:
    """Raise what the scanner finds in the two tokens behind the one at `index`, which go-yaml reads first.

    libyaml reads on only when it must, so it can meet another error before.
    """
    parser = CParser(data)
    try:
        token = parser.get_token()
        # Ends of blocks are tokens without length; the parser has taken those before the one that it stopped at.
        while token is not None and (token.start_mark.index < index or isinstance(token, BlockEndToken)):
            token = parser.get_token()
        for _ in range(2):
            parser.get_token()
    finally:
        parser.dispose()


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
    return YamlError(problem, *place, where=f"line {line}: " if line else "")


def _refuse_escaped_slash(event: Any, text: str) -> None:
    """YAML 1.2's escape for a slash, which libyaml knows and go-yaml does not."""
    start, end = event.start_mark, event.end_mark
    if _ESCAPED_SLASH.search(text, start.index, end.index):
        line = (start.line or end.line) + 1
        where = f"line {line}: " if line > 1 else ""
        raise YamlError("found unknown escape character", start.line + 1, start.column + 1, where=where)


def _decoded(data: bytes) -> str:
    for mark, encoding in ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    return data.decode(errors="replace")
