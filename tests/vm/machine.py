"""A machine to boot: a system's root folder, changed at will before it starts, and what the machine then reports."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from tests.contract.real_ignition import apply_ignition
from tests.tools import require_root, require_tool
from tests.vm.system import make_ext4

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.vm.system import System

_HERE = Path(__file__).parent

# A boot takes about 25 s without KVM; a busy machine may need a multiple.
_TIMEOUT = 300

_KERNEL_ARGUMENTS = (
    "root=/dev/vda",
    "rw",
    "console=ttyS0",
    "panic=-1",
    "systemd.wants=probe.service",
    # First boot all the same, but nobody is there to answer questions.
    "systemd.firstboot=no",
    # The hardware database and the like are as old as /usr.
    "systemd.condition-needs-update=0",
)

# Writes 0x10 to port 0x501 and halts; qemu's isa-debug-exit makes that exit code 33.
_BOOT_SECTOR = b"\xba\x01\x05\xb0\x10\xee\xf4".ljust(510, b"\0") + b"\x55\xaa"
_BOOT_SECTOR_EXIT = 33


class NoReport(AssertionError):
    """The machine did not get as far as the end of its report."""


@dataclass(frozen=True, slots=True)
class Boot:
    """What a machine reported: values by key, in the order they came, and where its logs are."""

    facts: Mapping[str, Sequence[str]]
    logs: Path
    seconds: float
    accelerator: str

    def fact(self, key: str) -> str:
        """The value of a key that is reported once."""
        values = self.facts.get(key, ())
        assert len(values) == 1, f"the machine reports {key} {len(values)} times, see {self.logs}"
        return values[0]


class Machine:
    """A machine that has not booted yet. Change what is below `root` as you like, then boot it once.

    `folder` takes the root folder and image while the machine lives, and its logs for good.
    """

    def __init__(self, system: System, folder: Path) -> None:
        require_root()
        self.system = system
        self.folder = folder
        self.root = folder / "root"
        self.root.mkdir(parents=True)
        subprocess.run(["tar", "--extract", "--file", system.root, "--directory", self.root], check=True)

    def ignite(self, config: bytes) -> None:
        """Let the real Ignition write what `config` says."""
        apply_ignition(config, self.root, self.folder / "ignition")

    def add_extension(self, name: str, files: Mapping[str, str]) -> None:
        """A system extension as a folder below /etc/extensions; `files` maps paths below /usr to their text."""
        extension = self.root / "etc/extensions" / name
        release = extension / f"usr/lib/extension-release.d/extension-release.{name}"
        release.parent.mkdir(parents=True)
        lines = self.system.os_release.read_text().splitlines(keepends=True)
        release.write_text("".join(line for line in lines if line.startswith(("ID=", "VERSION_ID="))))
        for path, text in files.items():
            file = extension / "usr" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)

    def boot(self, *probes: Path) -> Boot:
        """Start the machine, run the shell scripts `probes` in it, and wait for it to power off.

        A probe runs as root when the machine is up and prints `key=value` lines. Raises NoReport when the machine
        does not get to the end of it.
        """
        self._install(probes)
        image = self.folder / "root.ext4"
        make_ext4(self.root, image, spare_megabytes=64)
        shutil.rmtree(self.root)
        try:
            begin = time.monotonic()
            stopped = self._run_qemu(image)
            seconds = time.monotonic() - begin
        finally:
            image.unlink()
        facts = self._facts()
        if "end" not in facts:
            raise NoReport(f"{stopped} before the end of the report\n{self._last_lines('console.log', 40)}")
        return Boot(facts, self.folder, seconds, accelerator())

    def _install(self, probes: Sequence[Path]) -> None:
        shutil.copy(_HERE / "probe.service", self.root / "etc/systemd/system")
        folder = self.root / "var/lib/probe"
        folder.mkdir()
        shutil.copy(_HERE / "run-probes.sh", folder)
        for number, probe in enumerate(probes):
            shutil.copy(probe, folder / f"{number}.probe")

    def _run_qemu(self, image: Path) -> str:
        command = [require_tool("qemu-system-x86_64"), *_acceleration(accelerator()), "-smp", "2", "-m", "1024"]
        command += ["-nodefaults", "-display", "none", "-no-reboot"]
        command += ["-kernel", str(self.system.kernel), "-initrd", str(self.system.initrd)]
        command += ["-append", " ".join(_KERNEL_ARGUMENTS)]
        command += ["-drive", f"file={image},format=raw,if=virtio"]
        command += ["-drive", f"file={self.system.usr},format=raw,if=virtio,readonly=on"]
        for log in ("console", "report", "journal"):
            command += ["-serial", f"file:{self.folder / log}.log"]
        with (self.folder / "qemu.log").open("w") as log_file:
            try:
                done = subprocess.run(
                    command, stdin=subprocess.DEVNULL, stdout=log_file, stderr=log_file, timeout=_TIMEOUT
                )
            except subprocess.TimeoutExpired:
                return f"the machine ran {_TIMEOUT} s and was stopped"
        return f"the machine ended (qemu exits {done.returncode}: {self._last_lines('qemu.log', 3)})"

    def _facts(self) -> Mapping[str, Sequence[str]]:
        facts: dict[str, list[str]] = defaultdict(list)
        report = self.folder / "report.log"
        for line in report.read_text(errors="replace").splitlines() if report.exists() else ():
            key, found, value = line.strip().partition("=")
            if found:
                facts[key].append(value)
        return dict(facts)

    def _last_lines(self, log: str, count: int) -> str:
        path = self.folder / log
        lines = path.read_text(errors="replace").splitlines() if path.exists() else []
        return "\n".join(lines[-count:])


@cache
def accelerator() -> str:
    """`kvm` where it really runs a guest, else `tcg`; /dev/kvm may be there and yet be of no use."""
    qemu = require_tool("qemu-system-x86_64")
    with tempfile.NamedTemporaryFile() as disk:
        disk.write(_BOOT_SECTOR)
        disk.flush()
        command = [qemu, *_acceleration("kvm"), "-nodefaults", "-display", "none"]
        command += ["-device", "isa-debug-exit,iobase=0x501,iosize=1"]
        command += ["-drive", f"file={disk.name},format=raw,if=floppy,readonly=on"]
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=5)
        except subprocess.TimeoutExpired:
            return "tcg"
    return "kvm" if done.returncode == _BOOT_SECTOR_EXIT else "tcg"


def _acceleration(name: str) -> list[str]:
    # Emulating every feature there is makes TCG slower.
    return ["-accel", name, "-cpu", "max" if name == "kvm" else "qemu64"]
