"""Small Debian systems to boot: built once by debootstrap, then taken from a cache.

/usr becomes an image of its own that all machines of a suite share, for no machine can write to it.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.tools import require_root, require_tool, unavailable

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Suite:
    """A Debian suite, named for its systemd: that is what the machines differ by."""

    name: str
    systemd: int


BOOKWORM = Suite("bookworm", systemd=252)
TRIXIE = Suite("trixie", systemd=257)

_PACKAGES = ("dbus", "kmod", "linux-image-amd64", "systemd", "systemd-sysv", "udev")

# The smallest initrd that mounts / and /usr; unpacking Debian's usual one takes five seconds without KVM.
_INITRD = {"conf.d/vm": "MODULES=list\nFSTYPE=ext4\n", "modules": "virtio_pci\nvirtio_blk\next4\n"}

_FSTAB = """\
/dev/vda  /     ext4  rw  0 0
/dev/vdb  /usr  ext4  ro  0 0
"""

# Flatcar enables systemd-sysext.service since 3185, Debian 12 does not. The machines have no network card for
# systemd-networkd to configure, and Debian 13 waits for one.
_PRESET = """\
enable systemd-sysext.service
disable systemd-networkd*
"""

# Half of the image: no machine here has such devices, or reads manuals.
_USELESS = (
    "usr/lib/modules/*/kernel/drivers/gpu",
    "usr/lib/modules/*/kernel/drivers/infiniband",
    "usr/lib/modules/*/kernel/drivers/media",
    "usr/lib/modules/*/kernel/drivers/net",
    "usr/lib/modules/*/kernel/sound",
    "usr/share/doc",
    "usr/share/locale",
    "usr/share/man",
    "var/cache/apt/*",
    "var/cache/debconf/*-old",
    "var/lib/apt/lists/*",
)

_DEFAULT_MIRROR = "http://deb.debian.org/debian"


@dataclass(frozen=True, slots=True)
class System:
    """A suite ready to boot, as files in `folder`."""

    suite: Suite
    folder: Path

    @property
    def kernel(self) -> Path:
        return self.folder / "vmlinuz"

    @property
    def initrd(self) -> Path:
        return self.folder / "initrd"

    @property
    def usr(self) -> Path:
        """An ext4 image of /usr."""
        return self.folder / "usr.ext4"

    @property
    def os_release(self) -> Path:
        return self.folder / "os-release"

    @property
    def root(self) -> Path:
        """A tar archive of everything but what is in /usr and /boot."""
        return self.folder / "root.tar"


def cache_folder() -> Path:
    """$FLATCAR_GPU_VM_CACHE, else a folder in the user's cache."""
    if chosen := os.environ.get("FLATCAR_GPU_VM_CACHE"):
        return Path(chosen)
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "flatcar-gpu-vm"


def system(suite: Suite, cache: Path) -> System:
    """The system of `suite` from the cache, built when it is not there; that takes about two minutes."""
    # This module is the recipe: whatever changes in it makes another system.
    recipe = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:12]
    found = System(suite, cache / f"{suite.name}-{recipe}")
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / f"{suite.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not found.folder.exists():
            _build(found)
            _remove_older(found)
    return found


def _remove_older(kept: System) -> None:
    for folder in kept.folder.parent.glob(f"{kept.suite.name}-*"):
        if folder != kept.folder:
            shutil.rmtree(folder)


def _build(target: System) -> None:
    require_root()
    with tempfile.TemporaryDirectory(prefix="build-", dir=target.folder.parent) as scratch:
        tree = Path(scratch) / "tree"
        _debootstrap(target.suite, tree)
        _configure(tree)
        parts = System(target.suite, Path(scratch) / "parts")
        parts.folder.mkdir()
        shutil.copyfile(tree / "vmlinuz", parts.kernel)
        shutil.copyfile(tree / "initrd.img", parts.initrd)
        shutil.copyfile(tree / "usr/lib/os-release", parts.os_release)
        make_ext4(tree / "usr", parts.usr, spare_megabytes=16)
        without = ("--exclude=./usr/*", "--exclude=./boot/*")
        _run(["tar", "--create", "--file", str(parts.root), "--directory", str(tree), *without, "."])
        parts.folder.rename(target.folder)


def _debootstrap(suite: Suite, tree: Path) -> None:
    # What debootstrap mounts is gone with its mount namespace, even if it is killed.
    command = [require_tool("unshare"), "--mount", require_tool("debootstrap"), "--variant=minbase"]
    command += [f"--include={','.join(_PACKAGES)}", suite.name, str(tree), _mirror()]
    scripts = Path("/usr/share/debootstrap/scripts")
    if not (scripts / suite.name).exists():
        # All scripts of Debian's newer suites are one; an old debootstrap lacks just the name.
        command.append(str(scripts / "sid"))
    done = subprocess.run(command, env=_with_apts_proxy(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        last = "\n".join(done.stdout.splitlines()[-10:])
        unavailable(f"debootstrap cannot build {suite.name}; is Debian's archive in reach?\n{last}")


def _configure(tree: Path) -> None:
    for name, text in _INITRD.items():
        (tree / "etc/initramfs-tools" / name).write_text(text)
    (tree / "etc/fstab").write_text(_FSTAB)
    (tree / "usr/lib/systemd/system-preset/50-vm.preset").write_text(_PRESET)
    # Without it the boot is a first boot, in which systemd applies presets.
    (tree / "etc/machine-id").unlink()
    (tree / "var/lib/dbus/machine-id").unlink(missing_ok=True)
    # debootstrap copies these from the machine it runs on.
    (tree / "etc/hostname").write_text("node\n")
    (tree / "etc/resolv.conf").unlink(missing_ok=True)
    for pattern in _USELESS:
        for path in tree.glob(pattern):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    (kernel,) = (path.name for path in (tree / "usr/lib/modules").iterdir())
    _run(["chroot", str(tree), "depmod", kernel])
    _run(["chroot", str(tree), "update-initramfs", "-u", "-k", kernel])


def _mirror() -> str:
    """The archive that apt on this machine is set up to use."""
    filters = ["Created-By: Packages", "Origin: Debian", "Label: Debian"]
    known = _ask_apt(["apt-get", "indextargets", "--format", "$(REPO_URI)", *filters]).split()
    return next((uri for uri in known if uri.startswith(("http://", "https://", "file:"))), _DEFAULT_MIRROR)


def _with_apts_proxy() -> Mapping[str, str]:
    proxy = _ask_apt(["apt-config", "shell", "http_proxy", "Acquire::http::Proxy"]).partition("=")[2].strip().strip("'")
    return {**os.environ, "http_proxy": proxy} if proxy else os.environ


def _ask_apt(command: list[str]) -> str:
    """What apt says about its configuration; nothing on a machine that has debootstrap but no apt."""
    return _run(command) if shutil.which(command[0]) else ""


def make_ext4(folder: Path, image: Path, *, spare_megabytes: int) -> None:
    """An ext4 image of what `folder` holds, owners and modes kept, with some space left."""
    used = int(_run(["du", "--summarize", "--block-size=1M", str(folder)]).split()[0])
    # Inode tables and the journal take their share.
    size = used + used // 8 + spare_megabytes + 16
    _run([require_tool("mke2fs"), "-q", "-t", "ext4", "-m", "0", "-d", str(folder), str(image), f"{size}M"])


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"
    return done.stdout
