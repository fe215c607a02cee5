"""What containerd makes of the files that the operator's toolkit writes, each with the paths that our values give it.

The toolkit is played by what it is known to write: the whole CRI section of `containerd config dump` with a runtime
more (nvidia-container-toolkit 1.17 and later), or that runtime alone (before).
"""

from __future__ import annotations

import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from flatcar_gpu.helm.operator_values import operator_values
from flatcar_gpu.node.containerd import CONFIG, CONFIG_PATH
from flatcar_gpu.plan import resolve
from flatcar_gpu.settings import with_values
from flatcar_gpu.spec import Spec
from tests.contract.flatcar_containerd import CRI, FLATCARS_CONFIG
from tests.tools import require_tool

RUNTIME = f"""\
[plugins."{CRI}".containerd.runtimes.nvidia]
runtime_type = "io.containerd.runc.v2"
"""


class ContainerdNode:
    """The node's containerd files below a folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.containerd = require_tool("containerd")
        self.write("/usr/share/containerd/config.toml", FLATCARS_CONFIG)
        text = CONFIG.replace('"/', f'"{root}/')
        self.write(CONFIG_PATH, text)

    def write(self, path: str, text: str) -> None:
        target = Path(f"{self.root}{path}")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def append(self, path: str, text: str) -> None:
        old = Path(f"{self.root}{path}")
        self.write(path, (old.read_text() if old.exists() else "version = 2\n") + text)

    def dump(self) -> str:
        """`containerd config dump` of the file that the node starts containerd with."""
        command = [self.containerd, "--config", f"{self.root}{CONFIG_PATH}", "config", "dump"]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def cri(self) -> dict[str, Any]:
        found: dict[str, Any] = tomllib.loads(self.dump())["plugins"][CRI]
        return found


def _keeps_flatcars_settings(cri: dict[str, Any]) -> bool:
    runc = cri["containerd"]["runtimes"].get("runc", {})
    return cri["enable_selinux"] is True and runc.get("options", {}).get("SystemdCgroup") is True


def _toolkit_env(chart: str) -> dict[str, str]:
    plan = resolve(with_values(Spec(), {"operator.chartVersion": chart}))
    entries = {entry.key: entry.value for entry in operator_values(plan)}
    return {item["name"]: item["value"] for item in entries["toolkit.env"]}


def test_without_the_toolkit_flatcar_s_settings_are_in_force(tmp_path: Path) -> None:
    cri = ContainerdNode(tmp_path).cri()
    assert _keeps_flatcars_settings(cri)
    assert "nvidia" not in cri["containerd"]["runtimes"]


@pytest.mark.parametrize("chart", ["v24.9.0", "v25.3.4", "v25.10.0", "v26.7.0"])
def test_the_toolkit_s_runtime_and_flatcar_s_settings_are_in_force(chart: str, tmp_path: Path) -> None:
    node = ContainerdNode(tmp_path)
    env = _toolkit_env(chart)
    for _ in range(2):  # the toolkit does it again at every start
        written = env.get("RUNTIME_DROP_IN_CONFIG", env["CONTAINERD_CONFIG"])
        node.write(written, _with_runtime(node.dump()))
        cri = node.cri()
        assert "nvidia" in cri["containerd"]["runtimes"], chart
        assert _keeps_flatcars_settings(cri), chart


def _with_runtime(dumped: str) -> str:
    runc = f'[plugins."{CRI}".containerd.runtimes.runc]'
    assert runc in dumped
    return dumped if ".runtimes.nvidia]" in dumped else dumped.replace(runc, f"{RUNTIME}\n{runc}", 1)


def test_the_file_that_containerd_starts_with_is_no_place_for_the_runtime(tmp_path: Path) -> None:
    node = ContainerdNode(tmp_path)
    node.write(CONFIG_PATH, _with_runtime(node.dump()))
    assert "nvidia" not in node.cri()["containerd"]["runtimes"]


@pytest.mark.parametrize("path", [CONFIG_PATH, "/etc/containerd/conf.d/99-nvidia.toml"])
def test_toolkits_that_write_the_runtime_alone_work_nowhere(path: str, tmp_path: Path) -> None:
    node = ContainerdNode(tmp_path)
    node.append(path, RUNTIME)
    cri = node.cri()
    assert not ("nvidia" in cri["containerd"]["runtimes"] and _keeps_flatcars_settings(cri))
