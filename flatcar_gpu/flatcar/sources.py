"""Where the release index comes from.

Of a URL, in this order: the cache while it is fresh, the server, the cache of any age, the snapshot in the package. A
local folder or file is read as it is. What was used is always told (`Provenance`).
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import reduce
from typing import TYPE_CHECKING

from flatcar_gpu.errors import Failure
from flatcar_gpu.flatcar.cache import Entry, read_entry, write_entry
from flatcar_gpu.flatcar.fetch import NotFound, Unreachable, fetch
from flatcar_gpu.flatcar.index import CHANNELS, EMPTY, Index, family, is_channel
from flatcar_gpu.flatcar.location import (
    file_names,
    is_remote,
    local_path,
    published_for,
    shown,
    urls,
)
from flatcar_gpu.flatcar.snapshot import snapshot
from flatcar_gpu.report import Report

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path

    from flatcar_gpu.flatcar.access import Access


class Source(StrEnum):
    CACHE = "cache"
    FETCHED = "fetched"
    UNCHANGED = "unchanged on the server"
    OLD_CACHE = "old cache"
    SNAPSHOT = "snapshot in the package"
    FILE = "file"


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where an index was taken from.

    `location` is the URL or path (empty for the snapshot), `checked` when the server last confirmed it (Unix time),
    `newest` the date of the latest release in it.
    """

    source: Source
    location: str
    newest: str | None
    checked: float | None = None

    @property
    def asked_the_server(self) -> bool:
        return self.source in (Source.FETCHED, Source.UNCHANGED)

    def age_in_days(self, now: float) -> int | None:
        """How many days before `now` the latest release in the index came out; None where none has a date."""
        from datetime import UTC, date, datetime

        if self.newest is None:
            return None
        return (datetime.fromtimestamp(now, UTC).date() - date.fromisoformat(self.newest)).days

    def as_text(self, now: float) -> str:
        parts = [f"{self.source} {self.location}".rstrip()]
        if self.checked is not None:
            parts.append(f"checked {_span(now - self.checked)} ago")
        if self.newest is not None:
            parts.append(f"latest release {self.newest} ({self.age_in_days(now)} days old)")
        return ", ".join(parts)

    def as_dict(self, now: float) -> dict[str, object]:
        return {
            "source": str(self.source),
            "location": self.location or None,
            "checked_seconds_ago": None if self.checked is None else max(0, round(now - self.checked)),
            "latest_release": self.newest,
            "age_days": self.age_in_days(now),
        }


@dataclass(frozen=True, slots=True)
class Part:
    """An index as one file has it, and where the file was taken from."""

    index: Index
    provenance: Provenance


@dataclass(frozen=True, slots=True)
class Loaded:
    """What was asked for, file by file, and warnings: what is odd in a file, which server did not answer."""

    parts: tuple[Part, ...]
    report: Report

    @property
    def index(self) -> Index:
        return reduce(Index.merged, (part.index for part in self.parts), EMPTY)

    def part_of(self, channel: str) -> Part | None:
        """The part that has the channel's releases; None where no part has any."""
        return next((part for part in self.parts if part.index.current_release(channel)), None)


def load(channels: Collection[str], access: Access) -> Loaded:
    """The index of some channels; with `index.CHANNELS` all of it.

    Raises Failure where a channel is none, or where a local index cannot be read. That a server fails is no error: what
    the cache or the package has is used instead, and the report says so.
    """
    for channel in channels:
        if not is_channel(channel):
            raise Failure(f"{channel!r} is not a channel", hint=f"the channels are {', '.join(CHANNELS)} and lts-YEAR")
    return _from_server(channels, access) if is_remote(access.index_url) else _from_files(channels, access.index_url)


def at_hand(access: Access) -> Iterator[Part]:
    """What this machine has without a network: the local index or the cached files, then the snapshot."""
    if is_remote(access.index_url):
        for url in dict.fromkeys(url for channel in CHANNELS for url in urls(access.index_url, channel)):
            if entry := read_entry(access.cache, shown(url)):
                yield _cached(entry)
    else:
        yield from _from_files(CHANNELS, access.index_url).parts
    yield _packaged(snapshot())


def _from_files(wanted: Collection[str], index_url: str) -> Loaded:
    from flatcar_gpu.files import read_input
    from flatcar_gpu.flatcar.release_json import parse_releases

    path = local_path(index_url)
    files = {path: None} if path.is_file() else _files_in(path, wanted)
    parts, report = [], Report()
    for file, channel in files.items():
        name, data = read_input(str(file))
        index, problems = parse_releases(data, name=name, channel=channel)
        parts.append(Part(index, Provenance(Source.FILE, name, index.newest_date)))
        report.extend(problems)
    return Loaded(tuple(parts), report)


def _files_in(folder: Path, wanted: Collection[str]) -> dict[Path, str | None]:
    files: dict[Path, str | None] = {}
    for channel in wanted:
        there = [folder / name for name in file_names(channel) if (folder / name).is_file()]
        files |= {file: published_for(file.name) for file in there[:1]}
    if not files:
        names = dict.fromkeys(name for channel in wanted for name in file_names(channel))
        raise Failure(f"the folder {folder} has no {' or '.join(names)}")
    return files


def _from_server(wanted: Collection[str], access: Access) -> Loaded:
    parts: dict[str, Part] = {}
    report = Report()
    for channel in wanted:
        try:
            part = _from_url(channel, access, parts, report)
        except Failure as failure:
            part = _instead(channel, access)
            report.warning(f"{failure.message}; instead the {part.provenance.source} is used", hint=failure.hint)
            # Where no server answers, asking it for the other channels would only cost the same wait again.
            access = replace(access, offline=access.offline or isinstance(failure, Unreachable))
        parts.setdefault(part.provenance.location or channel, part)
    return Loaded(tuple(parts.values()), report)


def _from_url(channel: str, access: Access, known: Mapping[str, Part], report: Report) -> Part:
    """A channel's part in order of the sources. Raises Failure where the server has to be asked and does not help."""
    if access.offline:
        return _instead(channel, access)
    places = urls(access.index_url, channel)
    entries = {url: read_entry(access.cache, shown(url)) for url in places}
    for entry in entries.values():
        if entry and entry.is_fresh(time.time()) and not access.refresh:
            return _cached(entry)
    for url, published in places.items():
        try:
            return known.get(shown(url)) or _asked(url, published, entries[url], access, report)
        except NotFound as failure:
            missing = failure
    raise missing


def _asked(url: str, channel: str | None, entry: Entry | None, access: Access, report: Report) -> Part:
    """What the server has at `url`; it is kept in the cache. Raises Failure where that is nothing usable."""
    from flatcar_gpu.flatcar.release_json import parse_releases

    conditions = {"etag": entry.etag, "last_modified": entry.last_modified} if entry else {}
    answer = fetch(url, timeout=access.timeout, **conditions)
    if answer.data is None and entry:
        source, entry = Source.UNCHANGED, replace(entry, checked=time.time())
    else:
        index, problems = parse_releases(answer.data or b"", name=shown(url), channel=channel)
        report.extend(problems)
        source = Source.FETCHED
        entry = Entry(shown(url), index, time.time(), answer.etag, answer.last_modified)
    try:
        write_entry(access.cache, entry)
    except Failure as failure:
        report.warning(f"the release index is not kept: {failure.message}", hint="set XDG_CACHE_HOME")
    return Part(entry.index, Provenance(source, entry.url, entry.index.newest_date, entry.checked))


def _instead(channel: str, access: Access) -> Part:
    """What there is of a channel without asking: the cache of any age, else the snapshot."""
    for url in urls(access.index_url, channel):
        if entry := read_entry(access.cache, shown(url)):
            return _cached(entry)
    return _packaged(snapshot().only(family(channel)))


def _cached(entry: Entry) -> Part:
    source = Source.CACHE if entry.is_fresh(time.time()) else Source.OLD_CACHE
    return Part(entry.index, Provenance(source, entry.url, entry.index.newest_date, entry.checked))


def _packaged(index: Index) -> Part:
    return Part(index, Provenance(Source.SNAPSHOT, "", index.newest_date))


def _span(seconds: float) -> str:
    for unit, length in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(0, seconds):.0f} seconds"
