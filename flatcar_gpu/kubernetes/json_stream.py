"""Reading a JSON list of objects one by one, so that a list of thousands of nodes needs the memory of one."""

from __future__ import annotations

import codecs
import json
import re
from typing import TYPE_CHECKING, Any

from flatcar_gpu.errors import Failure

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

CHUNK = 1024 * 1024
"""Bytes read at a time."""

_SPACE = re.compile(r"[ \t\n\r]*")
_BEHIND = frozenset(" \t\n\r,:]}")
"""What can stand behind a value."""
_DECODER = json.JSONDecoder()


def items(stream: BinaryIO, name: str) -> Iterator[Any]:
    """The members of `items` of the object in `stream`; of an object without `items`, that object itself.

    UTF-8, UTF-16 and UTF-32 are told apart. Raises Failure with `name`, line and column where it is not JSON.
    """
    text = _Text(stream, name)
    alone: dict[str, Any] = {}
    is_list = False
    text.expect("{", "an object")
    more = not text.take("}")
    while more:
        key = text.value()
        text.expect(":", "a colon")
        if key == "items" and text.peek() == "[":
            is_list = True
            yield from _members(text)
        else:
            alone[str(key)] = text.value()
        more = not text.take("}")
        if more:
            text.expect(",", "a comma or a closing brace")
    text.expect_end()
    if not is_list:
        yield alone


def _members(text: _Text) -> Iterator[Any]:
    text.expect("[", "an array")
    if text.take("]"):
        return
    while True:
        yield text.value()
        if text.take("]"):
            return
        text.expect(",", "a comma or a closing bracket")


class _Text:
    """The text still unread, of which only as much is held as the next value needs."""

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self._stream = stream
        self._name = name
        start = stream.read(CHUNK)
        # Windows PowerShell writes UTF-16 where output goes to a file.
        self._decode = codecs.getincrementaldecoder(json.detect_encoding(start))()
        self._ended = False
        self._buffer = ""
        self._position = 0
        self._lines = 0
        self._columns = 0
        self._add(start)

    def peek(self) -> str:
        """The next character that is no space, or nothing at the end."""
        while True:
            space = _SPACE.match(self._buffer, self._position)
            self._position = space.end() if space else self._position
            if self._position < len(self._buffer) or self._ended:
                return self._buffer[self._position : self._position + 1]
            self._read()

    def take(self, character: str) -> bool:
        found = self.peek() == character
        self._position += found
        return found

    def expect(self, character: str, what: str) -> None:
        if not self.take(character):
            raise self._failure(f"{what} is expected", self._position)

    def expect_end(self) -> None:
        if self.peek():
            raise self._failure("there is something behind the object", self._position)

    def value(self) -> Any:
        """The next value."""
        self.peek()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._buffer, self._position)
            except json.JSONDecodeError as error:
                if self._ended:
                    raise self._failure(error.msg[:1].lower() + error.msg[1:], error.pos) from None
                self._read()
                continue
            except RecursionError:
                raise self._failure("it is nested too deeply", self._position) from None
            # Of a number that was cut off behind its point, what is there so far is a number, too.
            if self._ended or self._buffer[end : end + 1] in _BEHIND:
                self._position = end
                return value
            self._read()

    def _read(self) -> None:
        self._add(self._stream.read(CHUNK))

    def _add(self, data: bytes) -> None:
        self._ended = not data
        read = self._buffer[: self._position]
        newlines = read.count("\n")
        self._lines += newlines
        self._columns = len(read) - read.rfind("\n") - 1 if newlines else self._columns + len(read)
        try:
            self._buffer = self._buffer[self._position :] + self._decode.decode(data, final=self._ended)
        except UnicodeDecodeError as error:
            raise Failure(f"{self._name} is not text in {error.encoding}") from None
        self._position = 0

    def _failure(self, what: str, position: int) -> Failure:
        before = self._buffer[:position]
        line = self._lines + before.count("\n") + 1
        column = position - before.rfind("\n") if "\n" in before else self._columns + position + 1
        if self._ended and position >= len(self._buffer):
            what = "it ends too early" if self._lines or self._columns or self._buffer else "it is empty"
        hint = "write it with `kubectl get nodes -o json`"
        return Failure(f"{self._name}:{line}:{column}: this is not the JSON of a node list: {what}", hint)
