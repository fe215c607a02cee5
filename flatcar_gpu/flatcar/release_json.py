"""Reading the release JSON that www.flatcar.org publishes: one object, its keys versions and pointers.

A pointer (`current`, `current-2024`) repeats a whole release and does not name it. The files have had missing rows,
missing and changed values; what is odd is said in a report, and everything else still read.
"""

from __future__ import annotations

import json
import re
from datetime import date
from typing import TYPE_CHECKING, Any

from flatcar_gpu.errors import Failure
from flatcar_gpu.flatcar.index import CHANNELS, Index, Release, family
from flatcar_gpu.flatcar.version import Version, is_version
from flatcar_gpu.report import Report

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_POINTER = re.compile(r"current(-(?P<year>[0-9]{4}))?")

# What a value may look like; anything else would be shown to people and written into files as it is.
_WORD = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+_-]{0,39}")

# Releases before it have the row's containerd only where it was added later; from it on every row is to have it.
_CONTAINERD_LISTED_SINCE = Version(3277, 0, 0)

# A warning names this many releases and counts the others.
_NAMED = 5


class UnusableIndex(Failure):
    """What should be release JSON is not: empty, cut off, a web page, or of another shape."""


def parse_releases(data: bytes, *, name: str, channel: str | None = None) -> tuple[Index, Report]:
    """The index in a release JSON file, and warnings that name what in it is odd or missing.

    `name` is what to call the file in messages; `channel` the channel it was published for (`lts-2024` is possible),
    None where it is of several.
    Raises UnusableIndex where it is no release JSON or lists no release.
    """
    rows = _rows(data, name)
    of = family(channel) if channel else None
    reader = _Reader(of)
    releases = {}
    for key, row in rows.items():
        if is_version(key) and isinstance(row, dict):
            version = Version.parse(key)
            releases[version] = reader.release(version, row)
        elif not _POINTER.fullmatch(key):
            reader.note("{} is not a release and is left out", repr(key))
    own = [version for version, release in releases.items() if of in (None, release.channel)]
    if not own:
        raise UnusableIndex(f"{name} lists no release" + (f" of {of}" if releases else ""))
    current = dict(_pointers(rows, channel, releases, reader))
    if channel and channel not in current:
        reader.note(f"it does not say which release of {channel} is current; {{}} is the highest", str(max(own)))
        current[channel] = max(own)
    return Index(releases, current), reader.report(name)


def _rows(data: bytes, name: str) -> dict[str, Any]:
    start = data[:100].lstrip(b"\xef\xbb\xbf \t\r\n")
    if not data.strip():
        raise UnusableIndex(f"{name} is empty")
    if start.startswith(b"<"):
        raise UnusableIndex(f"{name} is a web page, not release JSON")
    try:
        rows = json.loads(data)
    except json.JSONDecodeError as error:
        where = "cut off" if error.pos >= len(error.doc.rstrip()) or "Unterminated" in error.msg else "not valid JSON"
        raise UnusableIndex(f"{name} is {where}: {error}") from None
    except (ValueError, RecursionError) as error:
        raise UnusableIndex(f"{name} is not valid JSON: {error}") from None
    if not isinstance(rows, dict):
        raise UnusableIndex(f"{name} is not release JSON: its top level is not an object")
    return rows


class _Reader:
    """Reads rows and gathers what is odd, so that a defect of many rows becomes one warning."""

    def __init__(self, channel: str | None) -> None:
        self.channel = channel
        self.oddities: dict[str, list[str]] = {}

    def note(self, says: str, what: str) -> None:
        """Gather an oddity: `says` is a sentence with a place (`{}`) for all it applies to."""
        self.oddities.setdefault(says, []).append(what)

    def report(self, name: str) -> Report:
        report = Report()
        for says, what in self.oddities.items():
            named = ", ".join(what[:_NAMED]) + (f" and {len(what) - _NAMED} more" if len(what) > _NAMED else "")
            report.warning(f"{name}: {says.replace('{}', named, 1)}")
        return report

    def release(self, version: Version, row: Mapping[str, Any]) -> Release:
        software = row.get("major_software")
        if not isinstance(software, dict):
            self.note("major_software is missing or odd in {}", str(version))
            software = None

        def of(package: str) -> str | None:
            return None if software is None else self._software(version, software, package)

        kernel = of("kernel")
        return Release(
            version=version,
            channel=self._channel(version, row.get("channel")),
            date=self._date(version, row.get("release_date")),
            kernel=kernel.removesuffix("-flatcar") if kernel else None,
            docker=of("docker"),
            containerd=of("containerd"),
            systemd=of("systemd"),
            ignition=of("ignition"),
            architectures=self._architectures(version, row.get("architectures")),
        )

    def _channel(self, version: Version, value: object) -> str | None:
        if _is_word(value):
            if value not in CHANNELS:
                self.note(f"the channel {value} is unknown, of {{}}", str(version))
            return str(value)
        self.note("channel is missing or odd in {}", str(version))
        return self.channel

    def _date(self, version: Version, value: object) -> str | None:
        if isinstance(value, str):
            try:
                return date.fromisoformat(value[:10]).isoformat()
            except ValueError:
                pass  # said below, as for what is no text
        self.note("release_date is missing or odd in {}", str(version))
        return None

    def _software(self, version: Version, software: Mapping[str, Any], package: str) -> str | None:
        if package not in software:
            if package != "containerd" or version >= _CONTAINERD_LISTED_SINCE:
                self.note(f"{package} is missing in {{}}", str(version))
            return None
        value = software[package]
        values = value if isinstance(value, list) else [value]
        words = [str(word) for word in values if _is_word(word)]
        if not words:
            self.note(f"{package} is odd in {{}}", str(version))
            return None
        if len(values) > 1:
            self.note(f"{package} is not a single value in {{}}; the first is taken", str(version))
        return words[0]

    def _architectures(self, version: Version, value: object) -> tuple[str, ...]:
        if isinstance(value, list) and value and all(map(_is_word, value)):
            return tuple(value)
        self.note("architectures is missing or odd in {}", str(version))
        return ()


def _is_word(value: object) -> bool:
    return isinstance(value, str) and _WORD.fullmatch(value) is not None


def _pointers(
    rows: Mapping[str, Any], channel: str | None, releases: Mapping[Version, Release], reader: _Reader
) -> Iterator[tuple[str, Version]]:
    """Channel and version of every pointer that can be resolved."""
    for key, entry in rows.items():
        match = _POINTER.fullmatch(key)
        if match is None:
            continue
        version = _pointed_at(entry, rows)
        if version is None:
            reader.note("{} repeats no release and is left out", repr(key))
        elif match["year"]:
            yield f"lts-{match['year']}", version
        # In a file of several channels `current` is of the channel of its release: stable in releases.json.
        elif channel and releases[version].channel == family(channel):
            yield channel, version
        elif name := releases[version].channel:
            yield name, version


def _pointed_at(entry: object, rows: Mapping[str, Any]) -> Version | None:
    """The release that a pointer repeats: an equal row, else the row of the same date and kernel."""
    releases = [(key, row) for key, row in rows.items() if is_version(key) and isinstance(row, dict)]
    equal = [key for key, row in releases if row == entry]
    alike = equal or [key for key, row in releases if _identity(row) and _identity(row) == _identity(entry)]
    return max(map(Version.parse, alike), default=None)


def _identity(row: object) -> tuple[object, object] | None:
    if not isinstance(row, dict) or not isinstance(row.get("major_software"), dict):
        return None
    identity = row.get("release_date"), row["major_software"].get("kernel")
    return None if None in identity else identity
