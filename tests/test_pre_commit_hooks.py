"""The hooks for pre-commit, called as pre-commit calls them: entry, args, names of files."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from flatcar_gpu.cli import PROGRAM, run

ROOT = Path(__file__).parents[1]
HOOKS: dict[str, dict[str, Any]] = {
    hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
}

_VALUES = (
    'driver: {repository: registry.example.com/nvidia, version: "570.195.03"}\n'
    "toolkit:\n"
    "  installDir: /opt/nvidia\n"
    "  env: [{name: CONTAINERD_CONFIG, value: /etc/containerd/config.toml},\n"
    "        {name: RUNTIME_DROP_IN_CONFIG, value: /etc/containerd/conf.d/99-nvidia.toml}]\n"
)
GOOD = {
    "flatcar-gpu-validate": {
        "nodes/a.bu": "variant: flatcar\nversion: 1.0.0\n",
        "nodes/b.bu": "variant: flatcar\nversion: 1.1.0\n",
    },
    "flatcar-gpu-check": {
        "gpu.yaml": (ROOT / "examples/fleet/gpu.yaml").read_text(),
        "staging/flatcar-gpu.yml": (ROOT / "examples/spec/driver-container.yaml").read_text(),
    },
    "flatcar-gpu-check-values": {
        "gpu-operator-values.yaml": _VALUES,
        "staging/gpu-operator.values.yml": _VALUES,
    },
}
BAD = {
    "flatcar-gpu-validate": "variant: flatcar\nversion: 1.0.0\nsystemdd: {}\n",
    "flatcar-gpu-check": "toolkit:\n  install_dir: /usr/nvidia\n",
    "flatcar-gpu-check-values": "toolkit:\n  installDir: /usr/nvidia\n",
}


def _call(hook: str, *arguments: str) -> int:
    program, *entry = shlex.split(HOOKS[hook]["entry"])
    assert program == PROGRAM
    return run([*entry, *arguments])


@pytest.fixture
def files(hook: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    for name, text in GOOD[hook].items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text)
    return list(GOOD[hook])


def test_every_hook_says_what_pre_commit_needs() -> None:
    assert set(HOOKS) == set(GOOD)
    for hook in HOOKS.values():
        assert {"id", "name", "description", "entry", "language", "files", "types"} == set(hook)
        assert hook["language"] == "python"


@pytest.mark.parametrize("hook", GOOD)
def test_a_hook_accepts_several_files_and_is_silent(
    hook: str, files: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    assert all(re.search(HOOKS[hook]["files"], name) for name in files)
    assert _call(hook, *files) == 0
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("hook", GOOD)
def test_a_hook_refuses_the_one_file_that_is_wrong(
    hook: str, files: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    Path(files[0]).write_text(BAD[hook])
    assert _call(hook, "--strict", *files) == 1
    said = capfd.readouterr().err
    assert f"{files[0]}:" in said
    assert files[1] not in said
