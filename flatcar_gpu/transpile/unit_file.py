"""systemd unit files as coreos/go-systemd reads them (unit/deserialize.go, 22.7)."""

from __future__ import annotations

import re

from flatcar_gpu.transpile.go_text import SURROGATES, quote

LINE_MAX = 2048
_BUFFER = 4096

# The white space of Go's unicode.IsSpace in UTF-8.
_ONE_SPACE = re.compile(
    rb"(?:[\t\n\v\f\r ]|\xc2[\x85\xa0]|\xe1\x9a\x80|\xe2\x80[\x80-\x8a\xa8\xa9\xaf]|\xe2\x81\x9f|\xe3\x80\x80)"
)
_SPACE = re.compile(_ONE_SPACE.pattern + rb"*")
_LONG_LINE = re.compile(rb"[^\r\n]{%d}" % LINE_MAX)
_SECTION_OR_COMMENT = re.compile(rb"[\[#;]")
_NAME_END = re.compile(rb"[=\r\n]")


class UnitError(ValueError):
    """The text is not a unit file; the message is go-systemd's."""


def sections_with_options(contents: str) -> frozenset[str]:
    """The names of the sections that have at least one option. Raises UnitError."""
    return frozenset(_Parser(contents.encode(errors=SURROGATES)).run())


class _Parser:
    """Reads section by section; looks for long lines where go-systemd does.

    go-systemd refuses a line as too long only if at least LINE_MAX bytes of it wait in its read buffer when it looks,
    which is before each of its steps. So the buffer is followed here, but only in texts that have such a line.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.buffered = 0
        """Where the data that was read into go-systemd's buffer ends."""
        self.has_long_lines = _LONG_LINE.search(data) is not None

    def run(self) -> set[str]:
        sections: set[str] = set()
        if not self.find_section():
            return sections
        while True:
            name = self.section_name()
            while True:
                found = self.next_in_section()
                if found == b"":
                    return sections
                if found == b"[":
                    break
                self.option()
                sections.add(name)

    def step(self) -> None:
        """Before each step of go-systemd: refuse a line that is too long, if it can be seen."""
        if self.has_long_lines and self.buffered - self.at >= LINE_MAX and _LONG_LINE.match(self.data, self.at):
            raise UnitError(f"line too long (max {LINE_MAX} bytes)")

    def move(self, to: int) -> None:
        """Read up to `to`; the buffer is filled whenever it has run out."""
        while self.buffered < to:
            # A search that finds nothing in a buffer that is not full reads on from where it began.
            start = self.at if self.buffered - self.at < _BUFFER else self.buffered
            self.at = start
            self.buffered = min(len(self.data), start + _BUFFER)
        self.at = to

    def peek(self) -> bytes:
        """The next byte, which is in the buffer afterwards; empty at the end."""
        if self.at == self.buffered:
            self.buffered = min(len(self.data), self.at + _BUFFER)
        return self.data[self.at : self.at + 1]

    def find_section(self) -> bool:
        """Read up to behind the first `[` outside of comments; everything before is no matter."""
        while True:
            if not self.has_long_lines:
                found = _SECTION_OR_COMMENT.search(self.data, self.at)
                self.move(found.start() if found else len(self.data))
            self.step()
            first = self.peek()
            if not first:
                return False
            self.move(self.at + 1)
            if first == b"[":
                return True
            if first in b"#;":
                self.step()
                self.skip_comment()

    def section_name(self) -> str:
        self.step()
        end = self.data.find(b"]", self.at)
        if end < 0:
            raise UnitError("unable to find end of section")
        name = self.data[self.at : end].decode(errors=SURROGATES)
        self.move(end + 1)
        self.step()
        garbage = self.line()
        space = _SPACE.match(garbage)
        if space and space.end() < len(garbage):
            raise UnitError(f"found garbage after section name : {quote(_stripped(garbage).decode(errors=SURROGATES))}")
        return name

    def next_in_section(self) -> bytes:
        """The first byte of the next option, `[` for a section, empty at the end."""
        while True:
            self.step()
            # One step for each character, which only matters where a line may be too long.
            space = (_ONE_SPACE if self.has_long_lines else _SPACE).match(self.data, self.at)
            if space and space.end() > self.at:
                self.move(space.end())
                continue
            first = self.peek()
            if first == b"[":
                self.move(self.at + 1)
                return first
            if not first or first not in b"#;":
                return first
            self.move(self.at + 1)
            self.step()
            self.skip_comment()

    def skip_comment(self) -> None:
        """The rest of the line, and the next one if it ends in a backslash."""
        while True:
            if not self.line().removesuffix(b" ").endswith(b"\\"):
                return

    def option(self) -> None:
        self.step()
        end = _NAME_END.search(self.data, self.at)
        if end is None:
            raise UnitError("EOF")
        if end[0] != b"=":
            raise UnitError("unexpected newline encountered while parsing option name")
        self.move(end.end())
        while True:
            self.step()
            line = self.line()
            if not line.endswith(b"\\") or not _stripped(line):
                return

    def line(self) -> bytes:
        """The rest of the line without its LF, read as go-systemd's toEOL does."""
        end = self.data.find(b"\n", self.at)
        start, stop = self.at, end if end >= 0 else len(self.data)
        self.move(min(stop + 1, len(self.data)))
        line = self.data[start:stop]
        return line if end >= 0 else line.removesuffix(b"\r")


def _stripped(text: bytes) -> bytes:
    decoded = text.decode(errors=SURROGATES)
    # Unlike Go, Python takes the separators 0x1c to 0x1f for white space.
    white = "".join(
        character for character in set(decoded) if character.isspace() and character not in "\x1c\x1d\x1e\x1f"
    )
    return decoded.strip(white or " ").encode(errors=SURROGATES)
