"""A machine to boot: its root folder, changed at will before it starts, and what it reports when it runs."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Self

from tests.contract.real_ignition import apply_ignition
from tests.tools import require_root, require_tool
from tests.vm.system import make_ext4

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.vm.system import System

_HERE = Path(__file__).parent

# A boot takes about half a minute without KVM; on a busy machine it has taken four times as long.
_TIMEOUT = 600

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
    """A machine: a root folder to change as one likes until the first boot, then a disk that lasts from boot to boot.

    `folder` takes both while the machine lives, and the logs of its boots for good. Use it in a `with` statement.
    """

    def __init__(self, system: System, folder: Path) -> None:
        require_root()
        self.system = system
        self.folder = folder
        self.root = folder / "root"
        self.root.mkdir(parents=True)
        subprocess.run(["tar", "--extract", "--file", system.root, "--directory", self.root], check=True)
        shutil.copy(_HERE / "probe.service", self.root / "etc/systemd/system")
        self._disk = folder / "root.ext4"
        self._boots = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.root, ignore_errors=True)
        self._disk.unlink(missing_ok=True)

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

    def boot(self, *scripts: Path) -> Boot:
        """Start the machine, run shell scripts in it one after the other, and wait for it to power off.

        They run as root when the machine is up; what they print as `key=value` lines is the report. Raises NoReport
        when the machine does not get to the end of it.
        """
        if not self._disk.exists():
            make_ext4(self.root, self._disk, spare_megabytes=64)
            shutil.rmtree(self.root)
        self._boots += 1
        logs = self.folder / f"boot-{self._boots}"
        logs.mkdir()
        begin = time.monotonic()
        end = self._run_qemu(logs, scripts)
        seconds = time.monotonic() - begin
        facts = _facts(logs / "report.log")
        if "end" not in facts:
            console = _last_lines(logs / "console.log", 40)
            raise NoReport(f"{end} before the end of its report, see {logs}; the console ends with\n{console}")
        return Boot(facts, logs, seconds, accelerator())

    def _run_qemu(self, logs: Path, scripts: Sequence[Path]) -> str:
        command = [require_tool("qemu-system-x86_64"), *_acceleration(accelerator()), "-smp", "2", "-m", "1024"]
        command += ["-nodefaults", "-display", "none", "-no-reboot"]
        command += ["-kernel", str(self.system.kernel), "-initrd", str(self.system.initrd)]
        command += ["-append", " ".join(_KERNEL_ARGUMENTS)]
        command += ["-drive", f"file={self._disk},format=raw,if=virtio"]
        command += ["-drive", f"file={self.system.usr},format=raw,if=virtio,readonly=on"]
        command += ["-drive", f"file={_archive(scripts, logs / 'probe.tar')},format=raw,if=virtio,readonly=on"]
        for log in ("console", "report", "journal"):
            command += ["-serial", f"file:{logs / log}.log"]
        with (logs / "qemu.log").open("w") as said:
            try:
                done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, timeout=_TIMEOUT)
            except subprocess.TimeoutExpired:
                return f"the machine ran {_TIMEOUT} s and was stopped"
        return f"the machine ended (qemu exits {done.returncode}: {_last_lines(logs / 'qemu.log', 3)})"


def _archive(scripts: Sequence[Path], archive: Path) -> Path:
    """What the machine's probe.service unpacks and runs."""
    with tarfile.open(archive, "w") as tar:
        tar.add(_HERE / "run-probes.sh", "run-probes.sh")
        for number, script in enumerate(scripts):
            tar.add(script, f"{number}.probe")
    return archive


def _facts(report: Path) -> Mapping[str, Sequence[str]]:
    facts: dict[str, list[str]] = defaultdict(list)
    for line in report.read_text(errors="replace").splitlines() if report.exists() else ():
        key, found, value = line.strip().partition("=")
        if found:
            facts[key].append(value)
    return dict(facts)


def _last_lines(log: Path, count: int) -> str:
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
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
