"""What collect-node.sh prints, read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from flatcar_gpu.errors import Failure
from flatcar_gpu.flatcar.os_release import parse_os_release

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flatcar_gpu.flatcar.os_release import OsRelease

HEAD = "flatcar-gpu node 1"

# Where containerd looks when it is not told.
_CONTAINERD_DEFAULT = "/etc/containerd/config.toml"

_RUNTIME = re.compile(r"\[.*\bruntimes\.[\"']?(?P<name>[A-Za-z0-9_-]+)[\"']?\]")
_IMPORTS = re.compile(r"imports\s*=\s*\[(?P<patterns>.*)\]")


@dataclass(frozen=True)
class Observed:
    """A node as collect-node.sh saw it: the lines of each part, by the part's name."""

    parts: Mapping[str, Sequence[str]]

    def lines(self, part: str) -> Sequence[str]:
        return self.parts[part]

    def first(self, part: str) -> str:
        """The first line of a part, empty where it has none."""
        return next(iter(self.parts[part]), "")

    @cached_property
    def os_release(self) -> OsRelease:
        """Raises Failure where the node does not run Flatcar."""
        return parse_os_release("\n".join(self.lines("os-release")))

    @cached_property
    def modules(self) -> frozenset[str]:
        """Modules that are loaded or part of the kernel, with underscores."""
        return frozenset(name.replace("-", "_") for part in ("modules", "modules-builtin") for name in self.lines(part))

    @property
    def has_overlay_mount(self) -> bool:
        """Whether an overlay is mounted on /usr/local, seen or hidden by a later mount on /usr."""
        return "/usr/local overlay" in self.lines("mounts")

    @property
    def usr_local_is_writable(self) -> bool:
        return self.first("usr-local-writable") == "yes"

    @property
    def update_is_staged(self) -> bool:
        return self.first("update-staged") == "yes"

    @cached_property
    def units(self) -> Mapping[str, str]:
        """Units of the node's own, with what they are links to; empty texts for files."""
        found = (line.partition(" -> ") for line in self.lines("units"))
        return {name: target for name, _, target in found}

    @cached_property
    def update_settings(self) -> Mapping[str, str]:
        """The node's update settings over the release's."""
        return dict(line.split("=", 1) for line in self.lines("update") if "=" in line)

    @cached_property
    def containerd_config(self) -> str:
        """The file that containerd was started with, empty where it does not run."""
        words = self.first("containerd").split()
        for word, following in pairwise(words):
            if word in ("--config", "-c"):
                return following
            if following.startswith("--config="):
                return following.partition("=")[2]
        return _CONTAINERD_DEFAULT if words else ""

    @cached_property
    def runtimes(self) -> frozenset[str]:
        """Runtimes in the file that containerd was started with and in those that it imports."""
        configs = self._containerd_configs
        own = configs.get(self.containerd_config, ())
        imports = [match["patterns"] for line in own if (match := _IMPORTS.search(line))]
        patterns = [pattern for text in imports for pattern in re.findall(r"[\"']([^\"']+)[\"']", text)]
        read = [name for name in configs if any(fnmatchcase(name, pattern) for pattern in patterns)]
        lines = [line for name in (self.containerd_config, *read) for line in configs.get(name, ())]
        return frozenset(match["name"] for line in lines if (match := _RUNTIME.search(line)))

    @cached_property
    def _containerd_configs(self) -> Mapping[str, Sequence[str]]:
        configs: dict[str, list[str]] = {}
        name = ""
        for line in self.lines("containerd-configs"):
            if line.startswith("# /"):
                name = line.removeprefix("# ")
                configs[name] = []
            elif name:
                configs[name].append(line)
        return configs


_PARTS = (
    "os-release",
    "kernel",
    "modules",
    "modules-builtin",
    "mounts",
    "usr-local-writable",
    "units",
    "containerd",
    "containerd-configs",
    "nvidia-smi",
    "nvidia-module",
    "update",
    "update-staged",
)


def parse_observed(text: str, name: str) -> Observed:
    """Read what the script printed; `name` is the input's for errors. What stands before its first line is passed over.

    Raises Failure where it is something else, or not whole.
    """
    # A terminal between here and the node ends lines as Windows does.
    _, found, body = ("\n" + text.replace("\r\n", "\n")).partition(f"\n{HEAD}\n")
    if not found:
        raise Failure(
            f"{name} is not what the collecting script prints: it has no line {HEAD!r}",
            hint="flatcar-gpu doctor --collect-script writes the script",
        )
    parts: dict[str, list[str]] = {}
    part = ""
    for line in body.splitlines():
        if line.startswith("== "):
            part = line.removeprefix("== ").strip()
            parts[part] = []
        elif part and line.startswith(" "):
            parts[part].append(line[1:])
    if "end" not in parts:
        raise Failure(f"{name} breaks off after the part {part!r}", hint="collect it anew")
    missing = [part for part in _PARTS if part not in parts]
    if missing:
        raise Failure(f"{name} lacks: {', '.join(missing)}", hint="collect it anew with this version's script")
    return Observed(parts)
