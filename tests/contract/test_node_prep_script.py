"""prepare-node.sh with busybox on a folder that stands for a node, and a chroot that answers as the node would."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from flatcar_gpu.kubernetes.node_prep.manifests import SCRIPT
from flatcar_gpu.kubernetes.node_prep.source import script
from tests.tools import require_tool

if TYPE_CHECKING:
    from pathlib import Path

# Docker's busybox image has them all; `chroot` is the one below, which busybox's own shell might pass over.
APPLETS = ["cat", "chmod", "cp", "cut", "find", "grep", "ln", "mkdir", "mv", "readlink", "rm", "rmdir", "sed"]
APPLETS += ["sha256sum", "sha512sum", "touch", "tr"]

# systemd as files: what is enabled and what is active. `broken` names a command that fails.
CHROOT = """\
#!/bin/sh
root=$1
shift 4
echo "$*" >>"$NODE/commands"
if [ "$*" = "$(cat "$NODE/broken" 2>/dev/null)" ]; then exit 1; fi
case "$*" in
"systemctl is-enabled --quiet "*) [ -e "$NODE/enabled/$4" ] ;;
"systemctl is-active --quiet "*) [ -e "$NODE/active/$4" ] ;;
"systemctl is-active "*) echo active ;;
"systemctl enable --quiet "*) touch "$NODE/enabled/$4" ;;
"systemctl disable --quiet "*) rm "$NODE/enabled/$4" ;;
"systemctl start "*) touch "$NODE/active/$3" ;;
"systemctl stop "*) rm -f "$NODE/active/$3" ;;
"systemctl reset-failed "*) exit 1 ;;
"systemctl restart "* | "systemctl daemon-reload") ;;
"systemctl show --property Where "*) echo /usr/local ;;
"systemctl show --property MainPID "*) cat "$NODE/containerd-process" ;;
"modprobe "*) mkdir -p "$root/sys/module/$2" ;;
"curl "*" --output "*) cp "${10#file://}" "$root$9" ;;
*)
    echo "the node knows no $*" >&2
    exit 1
    ;;
esac
"""

STEPS = """\
directory /opt/upper 0755
file /etc/modules-load.d/nvidia-driver.conf 0644
file /etc/containerd/config.toml 0640
replace /etc/flatcar/update.conf 0644
file /etc/systemd/system/usr-local.mount 0644
file /etc/systemd/system/containerd.service.d/10-gpu.conf 0644
link /etc/systemd/system/nvidia.service /dev/null
enable usr-local.mount
"""
FILES = {
    "/etc/modules-load.d/nvidia-driver.conf": "# needed by the driver\nloop\ni2c_core\n",
    "/etc/containerd/config.toml": "version = 2\n",
    "/etc/flatcar/update.conf": "SERVER=disabled\n",
    "/etc/systemd/system/usr-local.mount": "[Mount]\n",
    "/etc/systemd/system/containerd.service.d/10-gpu.conf": "[Service]\n",
}
QUERIES = ("systemctl is-", "systemctl show", "modprobe")


@dataclass
class Node:
    """A folder that stands for a node, and what is to be installed there."""

    folder: Path
    steps: str = STEPS
    files: dict[str, str] = field(default_factory=lambda: dict(FILES))

    @property
    def root(self) -> Path:
        return self.folder / "root"

    def run(self, *arguments: str) -> tuple[int, list[str]]:
        """The script's exit code and lines, without its name in front."""
        done = subprocess.run(
            ["/bin/sh", self.folder / SCRIPT, *arguments],
            env={"PATH": str(self.folder / "bin"), "NODE": str(self.folder)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        return done.returncode, [line.removeprefix("prepare-node: ") for line in done.stdout.splitlines()]

    def apply(self) -> tuple[int, list[str]]:
        source = self.folder / "source"
        # As Kubernetes lays out the volume of a ConfigMap.
        shutil.rmtree(source, ignore_errors=True)
        _write(source / "..data/steps", self.steps)
        for path, text in self.files.items():
            _write(source / f"..data/files{path}", text)
        for name in ("steps", "files"):
            (source / name).symlink_to(f"..data/{name}")
        (self.folder / "commands").write_text("")
        return self.run("apply", str(self.root), str(source))

    def remove(self) -> tuple[int, list[str]]:
        (self.folder / "commands").write_text("")
        return self.run("remove", str(self.root))

    def commands(self) -> list[str]:
        """What changed something on the node in the last run."""
        lines = (self.folder / "commands").read_text().splitlines()
        return [line for line in lines if not line.startswith(QUERIES)]

    def tree(self, *folders: str) -> dict[str, str]:
        """Everything on the node below `folders`: what links lead to, modes and texts of files."""
        found: dict[str, str] = {}
        for folder in folders or ("etc", "opt", "usr", "var"):
            for path in sorted((self.root / folder).rglob("*")):
                name = f"/{path.relative_to(self.root)}"
                if path.is_symlink():
                    found[name] = f"-> {path.readlink()}"
                elif path.is_file():
                    found[name] = f"{path.stat().st_mode & 0o777:04o} {path.read_text()}"
                else:
                    found[name] = "folder"
        return found

    def write(self, path: str, text: str) -> None:
        _write(self.root / path.lstrip("/"), text)

    def read(self, path: str) -> str:
        return (self.root / path.lstrip("/")).read_text()


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture
def node(tmp_path: Path) -> Node:
    for name in ("bin", "enabled", "active", "root/usr/local", "root/opt", "root/var/lib"):
        (tmp_path / name).mkdir(parents=True)
    busybox = require_tool("busybox")
    for applet in APPLETS:
        (tmp_path / "bin" / applet).symlink_to(busybox)
    _write(tmp_path / "bin/chroot", CHROOT)
    (tmp_path / "bin/chroot").chmod(0o755)
    _write(tmp_path / SCRIPT, script())
    _write(tmp_path / "active/containerd.service", "")
    _write(tmp_path / "containerd-process", "7\n")
    made = Node(tmp_path)
    made.write("/proc/sys/kernel/random/boot_id", "first\n")
    made.write("/proc/7/cmdline", "/usr/bin/containerd\0--config\0/etc/containerd/config.toml\0")
    made.write("/etc/flatcar/update.conf", "GROUP=beta\n")
    return made


def test_apply_installs_every_step_and_acts_once_for_all(node: Node) -> None:
    code, said = node.apply()
    assert code == 0, said
    assert node.tree("etc", "opt") == {
        "/etc/containerd": "folder",
        "/etc/containerd/config.toml": "0640 version = 2\n",
        "/etc/flatcar": "folder",
        "/etc/flatcar/update.conf": "0644 SERVER=disabled\n",
        "/etc/modules-load.d": "folder",
        "/etc/modules-load.d/nvidia-driver.conf": "0644 # needed by the driver\nloop\ni2c_core\n",
        "/etc/systemd": "folder",
        "/etc/systemd/system": "folder",
        "/etc/systemd/system/containerd.service.d": "folder",
        "/etc/systemd/system/containerd.service.d/10-gpu.conf": "0644 [Service]\n",
        "/etc/systemd/system/nvidia.service": "-> /dev/null",
        "/etc/systemd/system/usr-local.mount": "0644 [Mount]\n",
        "/opt/upper": "folder",
    }
    assert node.commands() == [
        "systemctl daemon-reload",
        "systemctl enable --quiet usr-local.mount",
        "systemctl start usr-local.mount",
        "systemctl restart containerd.service",
    ]
    assert said[-3:-1] == [
        "status: /usr/local is writable",
        "status: containerd reads /etc/containerd/config.toml",
    ]
    assert "loaded loop" in said
    assert "loaded i2c_core" in said


def test_a_second_run_changes_nothing(node: Node) -> None:
    node.apply()
    before = node.tree()
    code, said = node.apply()
    assert (code, said[-1]) == (0, "nothing to change")
    assert node.commands() == []
    assert node.tree() == before


def test_remove_restores_the_node(node: Node) -> None:
    before = node.tree()
    node.apply()
    code, said = node.remove()
    assert code == 0, said
    assert node.tree() == before
    assert node.commands() == [
        "systemctl disable --quiet usr-local.mount",
        "systemctl daemon-reload",
        "systemctl stop usr-local.mount",
        "systemctl reset-failed usr-local.mount",
        "systemctl restart containerd.service",
    ]
    assert node.remove() == (0, ["nothing to change"])


def test_what_was_there_already_is_not_removed(node: Node) -> None:
    node.write("/etc/containerd/config.toml", "version = 2\n")
    node.apply()
    node.remove()
    assert node.read("/etc/containerd/config.toml") == "version = 2\n"


@pytest.mark.parametrize("path", ["/etc/containerd/config.toml", "/etc/systemd/system/nvidia.service"])
def test_a_file_of_others_is_a_conflict_and_nothing_changes(node: Node, path: str) -> None:
    node.write(path, "somebody's\n")
    before = node.tree("etc", "opt", "usr")
    code, said = node.apply()
    assert code == 1
    assert said[0] == f"failed: {path} is there with other contents"
    assert node.tree("etc", "opt", "usr") == before
    assert node.commands() == []


def test_a_file_in_the_place_of_a_directory_is_a_conflict(node: Node) -> None:
    node.write("/opt/upper", "")
    code, said = node.apply()
    assert code == 1
    assert said[0] == "failed: /opt/upper is there and no directory"


def test_what_others_changed_since_is_left_to_them(node: Node) -> None:
    node.apply()
    # As NVIDIA's container toolkit does.
    node.write("/etc/containerd/config.toml", "version = 2 # and more\n")
    code, said = node.apply()
    assert code == 0
    assert "left /etc/containerd/config.toml: it was changed since it was installed" in said
    code, said = node.remove()
    assert code == 0
    assert "left /etc/containerd/config.toml: it was changed since it was installed" in said
    assert node.tree("etc/containerd") == {"/etc/containerd/config.toml": "0640 version = 2 # and more\n"}


def test_new_contents_replace_ours_and_steps_that_are_gone_are_taken_back(node: Node) -> None:
    node.apply()
    node.files["/etc/systemd/system/usr-local.mount"] = "[Mount]\nType=overlay\n"
    node.steps = STEPS.replace("replace /etc/flatcar/update.conf 0644\n", "")
    code, said = node.apply()
    assert code == 0, said
    assert node.read("/etc/systemd/system/usr-local.mount") == "[Mount]\nType=overlay\n"
    assert node.read("/etc/flatcar/update.conf") == "GROUP=beta\n"
    assert node.commands() == ["systemctl daemon-reload"]


def test_folders_made_on_the_way_go_with_their_last_file(node: Node) -> None:
    node.apply()
    node.steps = "file /etc/containerd/config.toml 0640\n"
    code, said = node.apply()
    assert code == 0, said
    assert node.tree("etc") == {
        "/etc/containerd": "folder",
        "/etc/containerd/config.toml": "0640 version = 2\n",
        "/etc/flatcar": "folder",
        "/etc/flatcar/update.conf": "0644 GROUP=beta\n",
    }


def test_a_folder_with_something_in_it_is_left(node: Node) -> None:
    node.apply()
    node.write("/opt/upper/nvidia/toolkit", "")
    code, said = node.remove()
    assert code == 0
    assert "left /opt/upper: it is not empty" in said
    assert (node.root / "opt/upper/nvidia/toolkit").exists()


def test_an_overlay_in_use_is_tried_again(node: Node) -> None:
    node.apply()
    _write(node.folder / "broken", "systemctl stop usr-local.mount\n")
    code, said = node.remove()
    assert code == 1
    assert any("usr-local.mount is in use" in line for line in said)
    assert (node.root / "opt/upper").exists()
    (node.folder / "broken").unlink()
    code, said = node.remove()
    assert code == 0
    assert "stopped usr-local.mount" in said
    assert not (node.root / "opt/upper").exists()


def test_a_run_that_was_cut_short_is_made_up_for(node: Node) -> None:
    _write(node.folder / "broken", "systemctl daemon-reload\n")
    assert node.apply()[0] == 1
    (node.folder / "broken").unlink()
    assert node.apply()[0] == 0
    assert node.commands() == [
        "systemctl daemon-reload",
        "systemctl enable --quiet usr-local.mount",
        "systemctl start usr-local.mount",
        "systemctl restart containerd.service",
    ]


def test_a_module_that_is_missing_fails_and_the_rest_is_done(node: Node) -> None:
    _write(node.folder / "broken", "modprobe i2c_core\n")
    code, said = node.apply()
    assert code == 1
    assert "failed: kernel module i2c_core cannot be loaded" in said
    assert "systemctl start usr-local.mount" in node.commands()


def test_a_mount_that_is_active_but_hidden_fails(node: Node) -> None:
    (node.root / "usr/local").rmdir()
    code, said = node.apply()
    assert code == 1
    assert "failed: /usr/local is not writable although usr-local.mount is active" in said


def test_a_containerd_that_reads_another_config_fails(node: Node) -> None:
    node.write("/proc/7/cmdline", "/usr/bin/containerd\0--config\0/etc/containerd/config-nvidia.toml\0")
    code, said = node.apply()
    assert code == 1
    assert any(line.startswith("failed: containerd does not read /etc/containerd/config.toml") for line in said)


def test_a_staged_update_and_a_driver_of_nvidia_service_are_told(node: Node) -> None:
    node.write("/run/reboot-required", "")
    node.write("/opt/nvidia/current/installed", "")
    code, said = node.apply()
    assert code == 0
    assert [line.partition(":")[0] for line in said].count("warning") == 2


@pytest.mark.parametrize("algorithm", ["sha256", "sha512"])
def test_a_file_is_fetched_and_its_hash_checked(node: Node, algorithm: str) -> None:
    image = node.folder / "extension.raw"
    image.write_text("an extension\n")
    path = "/opt/extensions/one.raw"
    good = hashlib.new(algorithm, image.read_bytes()).hexdigest()
    node.steps = (
        f"fetch {path} 0644 file://{image} {algorithm}-{'0' * len(good)}\nlink /etc/extensions/one.raw {path}\n"
    )
    code, said = node.apply()
    assert code == 1
    assert f"failed: {path} is not installed" in said
    assert not list((node.root / "opt/extensions").iterdir())

    node.steps = node.steps.replace("0" * len(good), good)
    code, said = node.apply()
    assert code == 0, said
    assert node.read(path) == "an extension\n"
    assert "status: boot the node to finish: system extensions and the driver change at boot" in said
    assert any(line.startswith("status: boot the node") for line in node.apply()[1])

    node.write("/proc/sys/kernel/random/boot_id", "second\n")
    assert node.apply() == (0, ["nothing to change"])


@pytest.mark.parametrize("arguments", [(), ("apply", "/"), ("remove",), ("remove", "/", "x"), ("install", "/", "x")])
def test_wrong_arguments_exit_with_2(node: Node, arguments: tuple[str, ...]) -> None:
    code, said = node.run(*arguments)
    assert code == 2
    assert said[0].startswith("usage: prepare-node.sh apply ROOT SOURCE")
