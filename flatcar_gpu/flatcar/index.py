"""The release index: every release with what it is made of, and which one each channel stands at."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flatcar_gpu.flatcar.version import Version

CHANNELS = ("alpha", "beta", "stable", "lts", "edge")
"""Channels that have a file of their own."""

LIVE_CHANNELS = ("alpha", "beta", "stable", "lts")
"""Those that still get releases: edge ended with 2466.99.0 on 2020-04-15."""

ARCHITECTURES = ("amd64", "arm64")

_LTS_YEAR = re.compile(r"lts-(20[0-9]{2})")


def is_channel(text: str) -> bool:
    """Whether `text` can be a channel: alpha, beta, stable, edge, lts, or the LTS of a year such as lts-2024."""
    return text in CHANNELS or _LTS_YEAR.fullmatch(text) is not None


def family(channel: str) -> str:
    """The channel in whose file `channel` is listed: lts for lts-2024, else the channel itself."""
    return "lts" if _LTS_YEAR.fullmatch(channel) else channel


@dataclass(frozen=True, slots=True)
class Release:
    """One row of the index. None stands for what the index does not say.

    `date` is when it was published, YYYY-MM-DD. `channel` of every long-term release is `lts`; see Index.of_channel
    for those of a year. `kernel` has no suffix; `systemd` is the major number alone.
    """

    version: Version
    channel: str | None
    date: str | None
    kernel: str | None
    docker: str | None
    containerd: str | None
    systemd: str | None
    ignition: str | None
    architectures: tuple[str, ...]

    @property
    def uname(self) -> str | None:
        """The kernel as `uname -r` prints it on a node."""
        return f"{self.kernel}-flatcar" if self.kernel else None

    def as_dict(self) -> dict[str, object]:
        """The release for JSON and YAML."""
        return {
            "version": str(self.version),
            "channel": self.channel,
            "date": self.date,
            "kernel": self.kernel,
            "docker": self.docker,
            "containerd": self.containerd,
            "systemd": self.systemd,
            "ignition": self.ignition,
            "architectures": list(self.architectures),
        }


@dataclass(frozen=True, slots=True)
class Index:
    """Releases by version, and the version each channel stands at as the index itself says.

    `current` also has the years of LTS: `lts-2024` beside `lts`.
    """

    releases: Mapping[Version, Release]
    current: Mapping[str, Version]

    def __len__(self) -> int:
        return len(self.releases)

    def __iter__(self) -> Iterator[Release]:
        """All releases, the highest version first."""
        return (self.releases[version] for version in sorted(self.releases, reverse=True))

    def get(self, version: Version) -> Release | None:
        return self.releases.get(version)

    def of_channel(self, channel: str) -> list[Release]:
        """The releases of a channel, the highest first; none where the index does not know it.

        The releases of an LTS year are those with the major number that its pointer has: the rows say only `lts`.
        """
        releases = [release for release in self if release.channel == family(channel)]
        if channel == family(channel):
            return releases
        current = self.current.get(channel)
        return [release for release in releases if current and release.version.major == current.major]

    def current_release(self, channel: str) -> Release | None:
        """The release a channel stands at: the one pointed at, else the channel's highest; None where it has none."""
        if channel in self.current:
            return self.releases[self.current[channel]]
        return next(iter(self.of_channel(channel)), None)

    def with_kernel(self, kernel: str) -> list[Release]:
        """All releases with that kernel version, the highest first: nearly half of the kernels came in several."""
        return [release for release in self if release.kernel == kernel]

    def next_after(self, version: Version, channel: str) -> Release | None:
        """The release of the channel that follows `version`; None where there is none yet."""
        later = [release for release in self.of_channel(channel) if release.version > version]
        return later[-1] if later else None

    @property
    def newest_date(self) -> str | None:
        """Date of the latest release: how far the index reaches."""
        return max((release.date for release in self.releases.values() if release.date), default=None)

    @property
    def channels(self) -> list[str]:
        """Every channel that has a current release, the years of LTS last."""
        years = sorted(set(self.current) - set(CHANNELS))
        return [channel for channel in CHANNELS if self.current_release(channel)] + years

    def only(self, channel: str) -> Index:
        """The part of one channel that has a file of its own; of `lts` with all its years."""
        releases = {version: release for version, release in self.releases.items() if release.channel == channel}
        return Index(releases, {name: version for name, version in self.current.items() if family(name) == channel})

    def merged(self, other: Index) -> Index:
        """Both as one; of what both have, `other` wins."""
        return Index({**self.releases, **other.releases}, {**self.current, **other.current})


EMPTY = Index({}, {})
