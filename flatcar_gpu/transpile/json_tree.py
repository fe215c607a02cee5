"""JSON text as nodes with places, with the errors of Go's encoding/json."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NoReturn

from flatcar_gpu.transpile.go_text import SURROGATES, quote
from flatcar_gpu.transpile.scalars import BOOL, FLOAT, NULL, STR
from flatcar_gpu.transpile.syntax_tree import AnyNode, Mapping, Scalar, Sequence

MAX_DEPTH = 10_000
_WHITE = re.compile(r"[ \t\r\n]*")
_STRING = re.compile(r'[^"\\\x00-\x1f]*')
_DIGITS = re.compile("[0-9]+")
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_LITERALS = {"true": BOOL, "false": BOOL, "null": NULL}


class JsonError(ValueError):
    """Not JSON; the message is Go's. `line` and `column` count from 1."""

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


def read_json(data: bytes) -> AnyNode:
    """The document as nodes; objects keep equal keys. Scalars have the tag of their JSON type.

    Raises JsonError.
    """
    return _Reader(data.decode(errors=SURROGATES)).document()


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.lines = [0, *(match.end() for match in re.finditer("\n", text))]

    def place(self, at: int) -> tuple[int, int]:
        line = bisect_right(self.lines, at)
        return line, at - self.lines[line - 1] + 1

    def fail(self, context: str, at: int | None = None) -> NoReturn:
        at = self.at if at is None else at
        if at >= len(self.text):
            raise JsonError("unexpected end of JSON input", *self.place(len(self.text)))
        raise JsonError(f"invalid character {_quoted(self.text[at])} {context}", *self.place(at))

    def fail_inside(self, context: str, at: int) -> NoReturn:
        """As `fail`, inside of a token: there Go takes the end of the text for a blank."""
        if at >= len(self.text):
            raise JsonError(f"invalid character ' ' {context}", *self.place(at))
        self.fail(context, at)

    def next(self) -> str:
        """The next character that is not white space; empty at the end."""
        match = _WHITE.match(self.text, self.at)
        self.at = match.end() if match else self.at
        return self.text[self.at : self.at + 1]

    def document(self) -> AnyNode:
        """Without recursion, so that no depth of nesting can break the reader."""
        stack: list[Mapping | Sequence] = []
        root: AnyNode | None = None
        while root is None or stack:
            node = self.value()
            if stack:
                stack[-1].content.append(node)
            else:
                root = node
            if isinstance(node, Mapping | Sequence) and not self.closes(node):
                stack.append(node)
                if len(stack) > MAX_DEPTH:
                    raise JsonError("exceeded max depth", *self.place(self.at))
                self.begin(node)
                continue
            while stack and not self.goes_on(stack[-1]):
                stack.pop()
        if self.next():
            self.fail("after top-level value")
        return root

    def closes(self, node: Mapping | Sequence) -> bool:
        """Whether the object or list that was just opened is empty."""
        if self.next() != ("}" if isinstance(node, Mapping) else "]"):
            return False
        self.at += 1
        return True

    def begin(self, node: Mapping | Sequence) -> None:
        if isinstance(node, Mapping):
            self.key(node)

    def key(self, node: Mapping) -> None:
        if self.next() != '"':
            self.fail("looking for beginning of object key string")
        line, column = self.place(self.at)
        node.content.append(Scalar(self.string(), False, STR, line, column))
        if self.next() != ":":
            self.fail("after object key")
        self.at += 1

    def goes_on(self, node: Mapping | Sequence) -> bool:
        """Read what stands behind a member: whether another one follows."""
        following = self.next()
        if following == ",":
            self.at += 1
            if isinstance(node, Mapping):
                self.key(node)
            return True
        if following != ("}" if isinstance(node, Mapping) else "]"):
            self.fail("after object key:value pair" if isinstance(node, Mapping) else "after array element")
        self.at += 1
        return False

    def value(self) -> AnyNode:
        first = self.next()
        line, column = self.place(self.at)
        if first == "{" or first == "[":
            self.at += 1
            return Mapping("", line, column) if first == "{" else Sequence("", line, column)
        if first == '"':
            return Scalar(self.string(), False, STR, line, column)
        if first == "-" or first.isdecimal():
            return Scalar(self.number(), True, FLOAT, line, column)
        for word, tag in _LITERALS.items():
            if first == word[0]:
                return Scalar(self.literal(word), True, tag, line, column)
        return self.fail("looking for beginning of value")

    def literal(self, word: str) -> str:
        for offset, expected in enumerate(word):
            if self.text[self.at + offset : self.at + offset + 1] != expected:
                self.fail_inside(f"in literal {word} (expecting {_quoted(expected)})", self.at + offset)
        self.at += len(word)
        return word

    def number(self) -> str:
        start = self.at
        self.at += self.text[start] == "-"
        if self.text[self.at : self.at + 1] == "0":
            self.at += 1
        else:
            self.digits("in numeric literal")
        if self.text[self.at : self.at + 1] == ".":
            self.at += 1
            self.digits("after decimal point in numeric literal")
        if self.text[self.at : self.at + 1] in ("e", "E"):
            self.at += 1
            self.at += self.text[self.at : self.at + 1] in ("+", "-")
            self.digits("in exponent of numeric literal")
        return self.text[start : self.at]

    def digits(self, context: str) -> None:
        match = _DIGITS.match(self.text, self.at)
        if match is None:
            self.fail_inside(context, self.at)
        self.at = match.end()

    def string(self) -> str:
        self.at += 1
        parts: list[str] = []
        while True:
            match = _STRING.match(self.text, self.at)
            if match:
                parts.append(match[0])
                self.at = match.end()
            following = self.text[self.at : self.at + 1]
            if following == '"':
                self.at += 1
                return _joined(parts)
            if following != "\\":
                self.fail("in string literal")
            parts.append(self.escape())

    def escape(self) -> str:
        letter = self.text[self.at + 1 : self.at + 2]
        if letter != "u":
            if letter not in _ESCAPES or not letter:
                self.fail_inside("in string escape code", self.at + 1)
            self.at += 2
            return _ESCAPES[letter]
        for offset in range(2, 6):
            if self.text[self.at + offset : self.at + offset + 1] not in "0123456789abcdefABCDEF" or (
                self.at + offset >= len(self.text)
            ):
                self.fail_inside("in \\u hexadecimal character escape", self.at + offset)
        code = int(self.text[self.at + 2 : self.at + 6], 16)
        self.at += 6
        return chr(code)


def _joined(parts: list[str]) -> str:
    text = "".join(parts)
    if text.isascii():
        return text
    # Escaped surrogates in pairs are one character, alone they are none; raw invalid bytes are none either.
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _quoted(character: str) -> str:
    """The first byte of a character as Go's encoding/json quotes it in its messages."""
    byte = chr(character.encode(errors=SURROGATES)[0])
    if byte == "'":
        return r"'\''"
    return "'\"'" if byte == '"' else f"'{quote(byte)[1:-1]}'"
