"""Index files as they were fetched, kept in the user's cache folder.

An entry is one file, written beside its place and renamed into it: processes that run at the same time each leave a
whole file, the last one wins, and no lock is needed.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from zlib import crc32

from flatcar_gpu.flatcar.compact import from_compact, to_compact

if TYPE_CHECKING:
    from pathlib import Path

    from flatcar_gpu.flatcar.index import Index

FRESH_FOR = 6 * 3600
"""Seconds for which an entry is used without asking the server again."""

_FORMAT = 1


@dataclass(frozen=True, slots=True)
class Entry:
    """The index that `url` served; `checked` is when the server last said that it is current (Unix time)."""

    url: str
    index: Index
    checked: float
    etag: str = ""
    last_modified: str = ""

    def is_fresh(self, now: float) -> bool:
        """Whether the entry is young enough; one from the future, after the clock was set back, is not."""
        return 0 <= now - self.checked < FRESH_FOR


def read_entry(folder: Path | None, url: str) -> Entry | None:
    """What the cache has of `url`; None where it has nothing or nothing that can be read."""
    if folder is None:
        return None
    try:
        data = json.loads(_file(folder, url).read_bytes())
        if data["format"] != _FORMAT or data["url"] != url:
            return None
        return Entry(
            url, from_compact(data["index"]), float(data["checked"]), str(data["etag"]), str(data["last_modified"])
        )
    except (OSError, ValueError, TypeError, KeyError):
        return None


def write_entry(folder: Path | None, entry: Entry) -> None:
    """Keep an entry. Raises Failure where the folder cannot be written; a folder of None keeps nothing."""
    if folder is None:
        return
    from flatcar_gpu.errors import Failure
    from flatcar_gpu.files import write_output

    data = {
        "format": _FORMAT,
        "url": entry.url,
        "checked": entry.checked,
        "etag": entry.etag,
        "last_modified": entry.last_modified,
        "index": to_compact(entry.index),
    }
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise Failure(f"cannot make the cache folder {folder}: {error.strerror}") from None
    write_output(str(_file(folder, entry.url)), json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode())


def _file(folder: Path, url: str) -> Path:
    # Readable, and apart for every URL: the checksum tells those that differ only in what is replaced or cut.
    readable = re.sub(r"[^A-Za-z0-9.]+", "-", url.partition("://")[2])[-80:]
    return folder / f"{readable}.{crc32(url.encode()):08x}.json"
