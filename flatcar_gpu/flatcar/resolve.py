"""Which release a version or a channel is."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from flatcar_gpu.errors import Failure
from flatcar_gpu.flatcar.index import CHANNELS, Index, is_channel
from flatcar_gpu.flatcar.location import is_remote
from flatcar_gpu.flatcar.sources import at_hand, load
from flatcar_gpu.flatcar.version import Version, is_version, version_inside
from flatcar_gpu.report import Problem, Report, Severity

if TYPE_CHECKING:
    from flatcar_gpu.flatcar.access import Access
    from flatcar_gpu.flatcar.index import Release
    from flatcar_gpu.flatcar.sources import Part, Provenance

OLD_AFTER_DAYS = 60
"""The published index once stood still for 85 days while releases went on: flatcar/Flatcar#2156."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """A release, where it is known from, and warnings about that."""

    release: Release
    provenance: Provenance
    report: Report


def resolve_release(text: str, access: Access, now: float | None = None) -> Resolved:
    """The release that `text` names: a version (`4593.2.5`) or a channel (`stable`, `lts-2024`).

    A version that this machine knows needs no network and warns of nothing. A channel is looked up, and data too old
    to be trusted are warned of; `now` is the time to measure their age by (Unix time, None is the clock).
    Raises Failure where `text` is neither, or names no release that is known.
    """
    if is_version(text):
        return _known(Version.parse(text), access)
    if is_channel(text):
        return _current(text, access, time.time() if now is None else now)
    inside = version_inside(text)
    known = f"a version is like 4593.2.5; the channels are {', '.join(CHANNELS)} and lts-YEAR such as lts-2024"
    raise Failure(f"{text!r} is neither a Flatcar version nor a channel", hint=f"write {inside}" if inside else known)


def _current(channel: str, access: Access, now: float) -> Resolved:
    loaded = load((channel,), access)
    index = loaded.index
    release = index.current_release(channel)
    if release is None:
        raise Failure(
            f"the release index has no {channel} release", hint=f"it has releases of {', '.join(index.channels)}"
        )
    provenance, report = loaded.parts[0].provenance, loaded.report
    if channel not in index.current:
        says = f"the index does not say which {channel} release is current; {release.version} is the highest"
        report.add(Problem(Severity.INFO, says))
    age = provenance.age_in_days(now)
    if age is not None and age > OLD_AFTER_DAYS:
        newer = (
            "see https://www.flatcar.org/releases, as the index has nothing newer"
            if provenance.asked_the_server
            else "run `flatcar-gpu releases update`"
        )
        report.warning(
            f"{channel} was taken to be {release.version} from data whose latest release is {age} days old",
            hint=f"{newer}, or name a version instead of the channel",
        )
    return Resolved(release, provenance, report)


def _known(version: Version, access: Access) -> Resolved:
    """The release of that version from what this machine has, else from the server."""
    parts: list[Part] = []
    for part in at_hand(access):
        if release := part.index.get(version):
            return Resolved(release, part.provenance, Report())
        parts.append(part)
    if is_remote(access.index_url) and not access.offline:
        loaded = load(CHANNELS, replace(access, refresh=True))
        for part in loaded.parts:
            if release := part.index.get(version):
                return Resolved(release, part.provenance, loaded.report)
        parts += loaded.parts
    raise Failure(f"the release index has no {version}", hint=_hint(version, [part.index for part in parts], access))


def _hint(version: Version, indexes: list[Index], access: Access) -> str:
    from flatcar_gpu.flatcar.tables import tables

    for row in tables()["unlisted"]:
        if row["version"] == str(version):
            return f"it was tagged but never listed ({row['source']}); choose a release that is listed"
    alike = sorted({found for index in indexes for found in index.releases if found.major == version.major})
    newer = "without --offline the server is asked for newer data"
    if alike:
        has = f"with the major number {version.major} it has {', '.join(map(str, alike))}"
        return f"{has}; {newer}" if access.offline else has
    if access.offline:
        return newer
    return "`flatcar-gpu releases list` shows all it has; the index can be behind the release servers"
