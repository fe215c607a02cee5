"""What the release servers themselves say: version.txt beside the images of a channel's current release."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flatcar_gpu.errors import Failure, Unavailable
from flatcar_gpu.flatcar.index import family
from flatcar_gpu.flatcar.location import shown
from flatcar_gpu.flatcar.os_release import os_release_values
from flatcar_gpu.flatcar.version import Version
from flatcar_gpu.report import Report

if TYPE_CHECKING:
    from flatcar_gpu.flatcar.index import Release

DEFAULT_RELEASE_SERVER = "https://{channel}.release.flatcar-linux.net"


def version_url(channel: str, server: str = DEFAULT_RELEASE_SERVER) -> str:
    """URL of the channel's version.txt; `{channel}` in `server` becomes the channel without its year."""
    year = channel.removeprefix("lts-")
    current = "current" if year == channel else f"current-{year}"
    return f"{server.replace('{channel}', family(channel)).rstrip('/')}/amd64-usr/{current}/version.txt"


def server_version(channel: str, server: str, timeout: float) -> Version:
    """The version that the release server has as the channel's current one.

    Raises Unavailable where it does not answer or not with a version.
    """
    from flatcar_gpu.flatcar.fetch import fetch

    url = version_url(channel, server)
    data = fetch(url, timeout=timeout).data or b""
    try:
        return Version.parse(os_release_values(data.decode("utf-8", "replace"))["FLATCAR_VERSION"])
    except (Failure, KeyError):
        raise Unavailable(f"{shown(url)} does not name a version") from None


def behind_server(channel: str, release: Release, server: str, timeout: float) -> Report:
    """A warning where the server's current release of the channel is newer than the index's, or cannot be asked for."""
    report = Report()
    try:
        latest = server_version(channel, server, timeout)
    except Unavailable as failure:
        report.warning(
            f"whether {release.version} is still the current {channel} release is not known: {failure.message}"
        )
        return report
    if latest > release.version:
        report.warning(
            f"the release index is behind: it has {release.version} as the current {channel} release, "
            f"the release server already has {latest}",
            hint=f"the index has no facts of {latest} yet; name the version where you need it",
        )
    return report
