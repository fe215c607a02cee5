"""What `flatcar-gpu ignition` prints, for the tests that give it to real tools."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.request import urlopen

if TYPE_CHECKING:
    from collections.abc import Mapping


@cache
def emitted_ignition(*options: str) -> bytes:
    """The Ignition config that the command prints for `options`."""
    command = [sys.executable, "-m", "flatcar_gpu", "ignition", *options]
    return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout


@dataclass(frozen=True, slots=True)
class IgnitionConfig:
    """An Ignition config by what it puts on a node. Paths begin with a slash."""

    tree: Mapping[str, Any]

    @classmethod
    def parse(cls, config: bytes) -> IgnitionConfig:
        return cls(json.loads(config))

    @property
    def units(self) -> Mapping[str, Mapping[str, Any]]:
        return {unit["name"]: unit for unit in self.tree.get("systemd", {}).get("units", ())}

    @property
    def storage(self) -> Mapping[str, list[Mapping[str, Any]]]:
        found: Mapping[str, list[Mapping[str, Any]]] = self.tree.get("storage", {})
        return found

    def unit_files(self) -> Mapping[str, str]:
        """Texts of units and drop-ins by their path below the folder of units."""
        files: dict[str, str] = {}
        for name, unit in self.units.items():
            if "contents" in unit:
                files[name] = unit["contents"]
            for dropin in unit.get("dropins", ()):
                files[f"{name}.d/{dropin['name']}"] = dropin["contents"]
        return files

    def file(self, path: str) -> bytes:
        """Contents of a file in the config."""
        (source,) = (file["contents"]["source"] for file in self.storage["files"] if file["path"] == path)
        return read_source(source)


def read_source(url: str) -> bytes:
    """What is behind a data URL, or an URL of a test's own server."""
    with urlopen(url) as response:  # noqa: S310
        data: bytes = response.read()
    return data
