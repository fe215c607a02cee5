"""Text functions of Go's standard library whose results show in Butane's output and messages."""

from __future__ import annotations

# Bytes that are not UTF-8 travel in strings as surrogates (PEP 383), one per byte, as Go counts them.
SURROGATES = "surrogateescape"

_ESCAPES = {7: r"\a", 8: r"\b", 9: r"\t", 10: r"\n", 11: r"\v", 12: r"\f", 13: r"\r", 34: r"\"", 92: r"\\"}


def quote(text: str) -> str:
    """`text` as Go's %q (strconv.Quote) writes it."""
    return '"' + "".join(map(_quoted, text)) + '"'


def _quoted(character: str) -> str:
    code = ord(character)
    if code in _ESCAPES:
        return _ESCAPES[code]
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    if character.isprintable():
        return character
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def clean(path: str) -> str:
    """Go's path.Clean: the shortest path that is lexically the same; `.` for nothing."""
    rooted = path.startswith("/")
    kept: list[str] = []
    for part in path.split("/"):
        if part in ("", "."):
            continue
        if part != "..":
            kept.append(part)
        elif kept and kept[-1] != "..":
            kept.pop()
        elif not rooted:
            kept.append(part)
    return "/" + "/".join(kept) if rooted else "/".join(kept) or "."


def join(*parts: str) -> str:
    """Go's path.Join: the parts that are not empty, joined by slashes and cleaned; empty for nothing."""
    joined = "/".join(part for part in parts if part)
    return clean(joined) if joined else ""


def extension(path: str) -> str:
    """Go's path.Ext: from the last dot of the last element on, empty without one."""
    name = path.rpartition("/")[2]
    dot = name.rfind(".")
    return name[dot:] if dot >= 0 else ""


def size(text: str) -> int:
    """Length in bytes, which is what Go's len says of a string."""
    return len(text) if text.isascii() else len(text.encode(errors=SURROGATES))
