"""collect-node.sh on a folder that stands for a node, run as `doctor` runs it."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from flatcar_gpu.cli import run

if TYPE_CHECKING:
    from pathlib import Path

KUBECTL = """\
#!/bin/sh
echo "$*" >"$0.arguments"
while [ "$1" != -- ]; do shift; done
echo "Creating debugging pod."
# sh -c SCRIPT sh /host, with the node's root folder somewhere else.
exec sh -c "$4" sh "$(dirname "$0")/root"
"""

FILES = {
    "etc/os-release": "ID=flatcar\nVERSION_ID=4593.2.5\n",
    "etc/flatcar/update.conf": "GROUP=stable\nSERVER=https://me:secret@update.example.com/\nDOWNLOAD_PASSWORD=secret\n",
    "etc/systemd/system/usr-local.mount": "",
    "etc/containerd/config.toml": 'imports = ["/etc/containerd/conf.d/*.toml"]\n[registry.auth]\npassword = "secret"\n',
    "etc/containerd/conf.d/99-nvidia.toml": "  [plugins.cri.containerd.runtimes.nvidia]\n    runtime_type = 'x'\n",
    "proc/modules": "loop 49152 0 - Live 0x0\ni2c_core 16384 1 - Live 0x0\nipmi_msghandler 16384 0 - Live 0x0\n",
    "proc/1/mountinfo": (
        "22 1 254:0 / / rw - ext4 /dev/vda rw\n"
        "30 22 254:1 / /usr ro,relatime shared:3 - btrfs /dev/vdb ro\n"
        "44 30 0:40 / /usr/local rw shared:9 - overlay overlay rw,lowerdir=/usr/local\n"
    ),
    "proc/7/comm": "containerd\n",
    "proc/7/cmdline": "/usr/bin/containerd\0--config\0/etc/containerd/config.toml\0",
    "proc/8/comm": "containerd-shim\n",
    "proc/8/cmdline": "/usr/bin/containerd-shim-runc-v2\0",
    "run/nvidia/driver/usr/bin/nvidia-smi": "x",
    "sys/module/nvidia/version": "570.195.03\n",
    "usr/local/README": "",
}

SUMMARY = """\
nvidia module:      570.195.03
nvidia-smi:         /run/nvidia/driver/usr/bin/nvidia-smi
/usr/local:         writable
containerd reads:   /etc/containerd/config.toml
runtimes:           nvidia
updates:            GROUP=stable, SERVER=https://update.example.com/
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (root / "etc/systemd/system/nvidia.service").symlink_to("/dev/null")
    return root


def test_a_mounted_root_is_looked_at(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code = run(["doctor", "--root", str(root)])
    sys.stdout.flush()
    out, err = capfd.readouterr()
    assert (code, err) == (0, "")
    assert out.startswith("release:            4593.2.5\n")
    assert out.endswith(SUMMARY)
    assert not (root / "usr/local/.flatcar-gpu-doctor").exists()


def test_secrets_are_neither_collected_nor_shown(root: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "collect.sh"
    assert run(["doctor", "--collect-script", "-o", str(script)]) == 0
    done = subprocess.run(["sh", script, root], capture_output=True, text=True, check=True)
    assert "secret" not in done.stdout
    assert "me@" not in done.stdout
    assert done.stderr == ""


def test_kubectl_is_run_for_a_node(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    kubectl = tmp_path / "kubectl"
    kubectl.write_text(KUBECTL)
    kubectl.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    code = run(["doctor", "--node", "gpu-1", "--kubectl", "--hold-updates"])
    sys.stdout.flush()
    out, err = capfd.readouterr()
    assert code == 1
    assert out.endswith(SUMMARY)
    assert err.startswith("gpu-1: error[FG508]: update.conf: SERVER is https://update.example.com/, not disabled\n")
    arguments = (tmp_path / "kubectl.arguments").read_text()
    assert arguments.startswith("debug node/gpu-1 --attach --quiet --image=busybox:1.36.1 --profile=sysadmin -- sh -c ")


def test_a_kubectl_that_is_missing_or_fails_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert run(["doctor", "--node", "gpu-1", "--kubectl"]) == 1
    assert "kubectl is not on the path" in capsys.readouterr().err
    (tmp_path / "kubectl").write_text("#!/bin/sh\nexit 3\n")
    (tmp_path / "kubectl").chmod(0o755)
    assert run(["doctor", "--node", "gpu-1", "--kubectl"]) == 1
    assert "kubectl exits with 3" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments", [(), ("-", "--root", "/"), ("--node", "a", "--collect-script"), ("--kubectl", "--root", "/")]
)
def test_there_is_one_thing_to_look_at(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor", *arguments]) == 2
    assert "Error: " in capsys.readouterr().err
