"""A real containerd has Flatcar's settings and the toolkit's runtime from the config that lands on a node.

containerd runs in a mount namespace in which /etc/containerd and /usr/share/containerd are the node's, so that the very
file with its absolute imports is read, from containerd's default path, as NVIDIA's toolkit reads it.
"""

from __future__ import annotations

import subprocess
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

from tests.contract.emitted import IgnitionConfig, emitted_ignition
from tests.contract.flatcar_containerd import CRI, FLATCARS_CONFIG
from tests.tools import require_root, require_tool

if TYPE_CHECKING:
    from pathlib import Path

NVIDIA_RUNTIME = f"""
      [plugins."{CRI}".containerd.runtimes.nvidia]
        runtime_type = "io.containerd.runc.v2"
        [plugins."{CRI}".containerd.runtimes.nvidia.options]
          BinaryName = "/usr/local/nvidia/toolkit/nvidia-container-runtime"
          SystemdCgroup = true
"""

# $1 is the folder of the node's files. An overlay of two lower layers needs no place to write to.
IN_NAMESPACE = """\
set -eu
mount -t overlay overlay -o "lowerdir=$1/usr/share:/usr/share" /usr/share
mount -t overlay overlay -o "lowerdir=$1/etc:/etc" /etc
exec containerd config dump
"""


class Node:
    """A folder with the files of a node that concern containerd."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.write("/usr/share/containerd/config.toml", FLATCARS_CONFIG)
        node = IgnitionConfig.parse(emitted_ignition())
        self.write("/etc/containerd/config.toml", node.file("/etc/containerd/config.toml").decode())

    def write(self, path: str, text: str) -> None:
        file = self.folder / path.removeprefix("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def dump(self) -> str:
        """What `containerd config dump` prints on the node."""
        require_root()
        require_tool("containerd")
        command = [require_tool("unshare"), "--mount", "sh", "-c", IN_NAMESPACE, "sh", str(self.folder)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return Node(tmp_path)


def cri(dump: str) -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads(dump)["plugins"][CRI]
    return found


def cri_section(dump: str) -> str:
    """The lines of the CRI plugin's section, as they are in the dump."""
    lines = dump.splitlines(keepends=True)
    inside = False
    section = []
    for line in lines:
        if line.lstrip().startswith("["):
            inside = line.lstrip().startswith(f'[plugins."{CRI}"')
        if inside:
            section.append(line)
    return "".join(section)


def assert_flatcars_settings(dump: str) -> None:
    assert tomllib.loads(dump)["oom_score"] == -999
    assert cri(dump)["enable_selinux"] is True
    assert cri(dump)["containerd"]["runtimes"]["runc"]["options"]["SystemdCgroup"] is True


def test_flatcars_settings_are_in_force(node: Node) -> None:
    assert_flatcars_settings(node.dump())


def test_flatcars_settings_are_not_containerds_defaults(node: Node) -> None:
    node.write("/etc/containerd/config.toml", "version = 2\n")
    dump = node.dump()
    assert tomllib.loads(dump)["oom_score"] == 0
    assert cri(dump)["enable_selinux"] is False
    assert cri(dump)["containerd"]["runtimes"]["runc"]["options"]["SystemdCgroup"] is False


def test_the_toolkits_drop_in_adds_its_runtime_and_keeps_flatcars_settings(node: Node) -> None:
    # The toolkit writes the whole CRI section of `containerd config dump` and its runtimes (gpu-operator v25.10).
    node.write("/etc/containerd/conf.d/99-nvidia.toml", "version = 2\n" + cri_section(node.dump()) + NVIDIA_RUNTIME)
    dump = node.dump()
    assert_flatcars_settings(dump)
    runtime = cri(dump)["containerd"]["runtimes"]["nvidia"]
    assert runtime["options"]["BinaryName"] == "/usr/local/nvidia/toolkit/nvidia-container-runtime"


def test_a_drop_in_with_a_part_of_the_section_loses_flatcars_settings(node: Node) -> None:
    # containerd 1.x replaces a plugin's section as a whole; this is why the toolkit must see ours as the default file.
    node.write("/etc/containerd/conf.d/99-nvidia.toml", "version = 2\n" + NVIDIA_RUNTIME)
    dump = node.dump()
    assert "nvidia" in cri(dump)["containerd"]["runtimes"]
    assert cri(dump)["enable_selinux"] is False
    assert tomllib.loads(dump)["oom_score"] == -999
