"""Walks every combination of strategy, toolkit, overlay and install directory."""

from __future__ import annotations

import itertools
import json
import subprocess
from typing import TYPE_CHECKING

import pytest

from flatcar_gpu.cli import run
from tests.tools import require_tool

if TYPE_CHECKING:
    from pathlib import Path

HASH = "sha256-" + "ab" * 32

CHOICES: tuple[tuple[tuple[str, ...], ...], ...] = (
    tuple(("--driver", strategy) for strategy in ("container", "sysext", "service", "none")),
    ((), *(("--toolkit", provider) for provider in ("operator", "sysext", "none"))),
    ((), *(("--usr-local", mode) for mode in ("overlay", "none"))),
    ((), *(("--toolkit-install-dir", path) for path in ("/usr/local/nvidia", "/opt/nvidia", "/usr/nvidia"))),
    ((), ("--arch", "arm64")),
    ((), ("--hold-updates", "--modules", "nvidia_peermem", "--runtime-sysext-hash", HASH)),
)

COMBINATIONS = [tuple(itertools.chain.from_iterable(parts)) for parts in itertools.product(*CHOICES)]


def _ignition(args: tuple[str, ...], capfd: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    code = run(["ignition", *args])
    out, err = capfd.readouterr()
    return code, out, err


@pytest.mark.parametrize("strategy", ["container", "sysext", "service", "none"])
def test_every_accepted_node_is_valid_and_every_refused_one_says_why(
    strategy: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    validate = require_tool("ignition-validate")
    accepted = refused = 0
    for args in (args for args in COMBINATIONS if args[1] == strategy):
        code, out, err = _ignition(args, capfd)
        if code:
            assert code == 1, args
            assert out == "", args
            assert "error[FG" in err, args
            assert "  try: " in err, args
            refused += 1
            continue
        config = tmp_path / f"{accepted}.ign"
        config.write_text(out)
        done = subprocess.run([validate, str(config)], capture_output=True, text=True)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), args
        assert json.loads(out)["ignition"]["version"] == "3.3.0"
        accepted += 1
    assert accepted >= 10
    assert refused >= 10


def test_butane_and_ignition_are_the_same_node(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    compared = 0
    for args in COMBINATIONS[::7]:
        code, ignition, _ = _ignition(args, capfd)
        if code:
            continue
        butane = tmp_path / "node.bu"
        assert run(["butane", *args, "-o", str(butane)]) == 0
        capfd.readouterr()
        assert run(["transpile", str(butane)]) == 0
        assert capfd.readouterr().out == ignition
        compared += 1
    assert compared >= 10
