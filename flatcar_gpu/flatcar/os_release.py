"""What a running node says of its release: /etc/os-release, and `osImage` in the status of a Kubernetes node."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

from flatcar_gpu.errors import Failure
from flatcar_gpu.flatcar.version import Version

# "by Kinvolk" is missing at times; "(Oklo)" or "(LTS 2024)" stood behind the version until 4628.0.0.
_OS_IMAGE = re.compile(r"Flatcar Container Linux( by \S+)? (?P<version>[0-9]+\.[0-9]+\.[0-9]+)( \(.*\))?")

_ASSIGNMENT = re.compile(r"(?P<key>[A-Za-z_][A-Za-z0-9_]*)=(?P<value>.*)")

# Board names in FLATCAR_BOARD, with the architecture as Go, Kubernetes and the release index call it.
_ARCHITECTURES = {"amd64-usr": "amd64", "arm64-usr": "arm64"}


@dataclass(frozen=True, slots=True)
class OsRelease:
    """The part of os-release that identifies a Flatcar node. Empty where the file does not say.

    The channel is not in os-release; GROUP in /usr/share/flatcar/update.conf has it.
    """

    version: Version
    build_id: str = ""
    architecture: str = ""
    sysext_level: str = ""


def parse_os_release(text: str) -> OsRelease:
    """The release that an os-release file names, whether its values are quoted (from 4628.0.0 on all are) or not.

    Raises Failure where the file is of another distribution or has no valid VERSION_ID.
    """
    values = os_release_values(text)
    if values.get("ID") != "flatcar":
        raise Failure(f"os-release is not Flatcar's: its ID is {values.get('ID', 'missing')!r}, not 'flatcar'")
    if "VERSION_ID" not in values:
        raise Failure("os-release has no VERSION_ID")
    return OsRelease(
        version=Version.parse(values["VERSION_ID"]),
        build_id=values.get("BUILD_ID", ""),
        architecture=_ARCHITECTURES.get(values.get("FLATCAR_BOARD", ""), ""),
        sysext_level=values.get("SYSEXT_LEVEL", ""),
    )


def os_release_values(text: str) -> dict[str, str]:
    """Keys and unquoted values of an os-release or version.txt file, read as os-release(5) says.

    Raises Failure, naming the line, where one is neither blank, a comment nor an assignment.
    """
    values = {}
    # Not splitlines(): it would also break a line at characters that a shell takes as part of the value.
    for number, line in enumerate(text.split("\n"), start=1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        match = _ASSIGNMENT.fullmatch(line)
        if match is None:
            raise Failure(f"os-release line {number} is not KEY=VALUE: {line[:80]!r}")
        values[match["key"]] = _unquoted(match["value"], number)
    return values


def version_of_os_image(os_image: str) -> Version:
    """The version in `status.nodeInfo.osImage` of a node. Raises Failure where it is not Flatcar's."""
    match = _OS_IMAGE.fullmatch(os_image.strip())
    if match is None:
        raise Failure(
            f"{os_image!r} is not the osImage of a Flatcar node",
            hint="Flatcar's reads like 'Flatcar Container Linux by Kinvolk 4593.2.5 (Oklo)'",
        )
    return Version.parse(match["version"])


def _unquoted(value: str, line: int) -> str:
    try:
        words = shlex.split(value, comments=False)
    except ValueError as error:
        raise Failure(f"os-release line {line} has a wrong quotation: {error}") from None
    if len(words) > 1:
        raise Failure(f"os-release line {line} has more than one word without quotation marks: {value[:80]!r}")
    return words[0] if words else ""
