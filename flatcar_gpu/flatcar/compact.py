"""The compact form of an index that the cache and the package keep: facts only, quick to read.

{"current": {"stable": "4593.2.5", …}, "releases": [["4593.2.5", "stable", "2026-08-13", kernel, docker, containerd,
 systemd, ignition, ["amd64", "arm64"]], …]}
"""

from __future__ import annotations

from typing import Any

from flatcar_gpu.flatcar.index import Index, Release
from flatcar_gpu.flatcar.version import Version


def to_compact(index: Index) -> dict[str, Any]:
    """The index as plain data for JSON, the highest version first."""
    return {
        "current": {channel: str(version) for channel, version in index.current.items()},
        "releases": [list(release.as_dict().values()) for release in index],
    }


def from_compact(data: dict[str, Any]) -> Index:
    """The index that `to_compact` was given. Raises ValueError where `data` does not have that form."""
    try:
        releases = {release.version: release for release in map(_release, data["releases"])}
        current = {channel: _version(text) for channel, text in data["current"].items()}
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"not a compact index: {error}") from None
    if not releases or not set(current.values()) <= set(releases):
        raise ValueError("not a compact index: a release is missing")
    return Index(releases, current)


def _release(row: list[Any]) -> Release:
    version, channel, date, kernel, docker, containerd, systemd, ignition, architectures = row
    return Release(
        _version(version), channel, date, kernel, docker, containerd, systemd, ignition, tuple(architectures)
    )


def _version(text: str) -> Version:
    # Our own writing: quicker than Version.parse, which this is called hundreds of times in place of.
    major, minor, patch = text.split(".")
    return Version(int(major), int(minor), int(patch))
