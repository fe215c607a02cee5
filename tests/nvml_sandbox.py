"""The copy script as its init container runs it: busybox, a read-only root file system, uid 0, no capabilities."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from flatcar_gpu.kubernetes.nvml.pattern import copy_script
from tests.tools import require_tool

if TYPE_CHECKING:
    from pathlib import Path

_APPLETS = ("sh", "cp", "rm", "ln", "readlink", "sleep", "cat", "ls", "mkdir", "touch")

# Runs in a mount namespace of its own. Arguments: the container's root, the driver root, the emptyDir and its options,
# the command, what is done on the node before and after it, and how mounts below the driver root propagate.
_MOUNTS = """
set -e
mount --make-rprivate /
eval "$6"
mount --bind "$1" "$1"
mount --rbind "$2" "$1/run-nvidia"
mount "--make-r$8" "$1/run-nvidia"
mount -o remount,bind,ro "$1/run-nvidia"
mount --bind "$3" "$1/nvml-libs"
mount -o "remount,bind,$4" "$1/nvml-libs"
mount -o remount,bind,ro "$1"
code=0
capsh --chroot="$1" --drop=all --caps== --no-new-privs --shell=/bin/sh -- -c "$5" || code=$?
eval "$7"
exit "$code"
"""


@dataclass(frozen=True, slots=True)
class Result:
    """What the init container did."""

    code: int
    output: str
    target: Path

    def entries(self) -> dict[str, str]:
        """The emptyDir: what each link leads to, and the text of each file."""
        return {
            path.name: f"-> {path.readlink()}" if path.is_symlink() else path.read_text(errors="replace")
            for path in sorted(self.target.iterdir())
        }

    @property
    def last_line(self) -> str:
        return self.output.splitlines()[-1] if self.output else ""


class Sandbox:
    """A node below `folder`: `root` is the driver root, `target` the emptyDir, `system` the container's own files."""

    def __init__(self, folder: Path) -> None:
        if os.geteuid() != 0:
            reason = "mount namespaces with other users' files need root"
            if os.environ.get("FLATCAR_GPU_REQUIRE_TOOLS") == "1":
                pytest.fail(reason)
            pytest.skip(reason)
        busybox = require_tool("busybox")
        require_tool("capsh")
        require_tool("unshare")
        self.root = folder / "root"
        self.target = folder / "target"
        self.system = folder / "system"
        for path in (
            self.root,
            self.target,
            self.system / "bin",
            self.system / "run-nvidia",
            self.system / "nvml-libs",
        ):
            path.mkdir(parents=True)
        self.target.chmod(0o777)
        shutil.copy(busybox, self.system / "bin" / "busybox")
        for applet in _APPLETS:
            (self.system / "bin" / applet).symlink_to("busybox")

    def run(
        self,
        command: str | None = None,
        *,
        mount_options: str = "rw",
        before: str = "",
        then: str = "",
        propagates: bool = False,
        timeout: float = 20,
        **variables: str,
    ) -> Result:
        """Run the script, or another command, as the manifests do: `sh -c SCRIPT`.

        `before` and `then` are shell commands on the node; $2 is the driver root, $3 the emptyDir. `propagates` is the
        HostToContainer of Kubernetes.
        """
        folders = [str(self.system), str(self.root), str(self.target)]
        commands = [copy_script() if command is None else command, before, then, "slave" if propagates else "private"]
        done = subprocess.run(
            ["unshare", "--mount", "sh", "-c", _MOUNTS, "sh", *folders, mount_options, *commands],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={"PATH": "/bin:/usr/bin:/usr/sbin:/sbin", **variables},
            check=False,
            timeout=timeout,
        )
        return Result(done.returncode, done.stdout.decode(errors="replace"), self.target)

    def library(self, folder: str, version: str = "580.65.06", *, plain_link: bool = True, text: str = "") -> Path:
        """NVIDIA's chain in `folder` of the driver root: .so -> .so.1 -> .so.VERSION."""
        place = self.root / folder
        place.mkdir(parents=True, exist_ok=True)
        file = place / f"libnvidia-ml.so.{version}"
        file.write_text(text or f"NVML {version}")
        (place / "libnvidia-ml.so.1").symlink_to(file.name)
        if plain_link:
            (place / "libnvidia-ml.so").symlink_to("libnvidia-ml.so.1")
        return file


def chain(version: str = "580.65.06", text: str = "") -> dict[str, str]:
    """What the emptyDir holds after a copy of that version."""
    return {
        "libnvidia-ml.so": "-> libnvidia-ml.so.1",
        "libnvidia-ml.so.1": f"-> libnvidia-ml.so.{version}",
        f"libnvidia-ml.so.{version}": text or f"NVML {version}",
    }
