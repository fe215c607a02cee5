"""Contents as a data URL, in the shortest of Butane's three spellings."""

from __future__ import annotations

import zlib
from base64 import b64encode

_UNRESERVED = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.!~*'()"
_PERCENT = [chr(byte) if byte in _UNRESERVED else f"%{byte:02X}" for byte in range(256)]
_BASE64 = ";base64,"
GZIP_MAGIC = b"\x1f\x8b"
# What Go writes: no name, no time, best compression, unknown system.
_GZIP_HEADER = GZIP_MAGIC + bytes((8, 0, 0, 0, 0, 0, 2, 0xFF))
# Go ends its stream with an empty block; a size as Go's decides where compressing pays.
_GO_LAST_BLOCK = 1


def data_url(contents: bytes, *, compress: bool) -> tuple[str, bool]:
    """The data URL of `contents`, and whether it holds them gzipped.

    Percent encoding, unless base64 is shorter; with `compress` gzip in base64, if that saves more than four characters.
    Go's deflate makes another stream than zlib, so the choice can differ where both are about as long.
    """
    escaped = len(contents.translate(None, _UNRESERVED))
    percent_size = 1 + len(contents) + 2 * escaped
    base64_size = len(_BASE64) + _base64_size(len(contents))
    size = min(percent_size, base64_size)
    if compress and _may_shrink(size):
        packed = gzip(contents)
        if len(_BASE64) + _base64_size(len(packed) + _GO_LAST_BLOCK) + 4 < size:
            return f"data:{_BASE64}{b64encode(packed).decode()}", True
    if base64_size < percent_size:
        return f"data:{_BASE64}{b64encode(contents).decode()}", False
    return "data:," + "".join(map(_PERCENT.__getitem__, contents)), False


def gzip(contents: bytes) -> bytes:
    """`contents` in gzip form, at the best level, without name and time: same input, same bytes."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    body = deflate.compress(contents) + deflate.flush()
    check = zlib.crc32(contents).to_bytes(4, "little") + (len(contents) & 0xFFFFFFFF).to_bytes(4, "little")
    return _GZIP_HEADER + body + check


def _may_shrink(size: int) -> bool:
    return size > len(_BASE64) + _base64_size(len(_GZIP_HEADER) + 8) + 4


def _base64_size(length: int) -> int:
    return 4 * ((length + 2) // 3)
