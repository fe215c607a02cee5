"""The completion scripts in the shells that read them."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from flatcar_gpu.cli import run
from tests.tools import require_tool

if TYPE_CHECKING:
    from pathlib import Path

# What readline does on TAB: find the function that is registered for the program, call it, look at COMPREPLY.
_TAB = r"""
set -eu
source "$1"; shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
[[ $(complete -p flatcar-gpu) =~ -F\ ([^ ]+) ]]
"${BASH_REMATCH[1]}" flatcar-gpu "${COMP_WORDS[COMP_CWORD]}" ""
((${#COMPREPLY[@]} == 0)) || printf '%s\n' "${COMPREPLY[@]}"
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "completion.bash"
    assert run(["completion", "bash", "-o", str(path)]) == 0
    return path


def _completed(script: Path, *words: str) -> list[str]:
    bash = require_tool("bash")
    program = script.parent / "flatcar-gpu"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m flatcar_gpu "$@"\n')
    program.chmod(0o755)
    environment = {**os.environ, "PATH": f"{script.parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        [bash, "--norc", "-c", _TAB, "tab", str(script), *words], env=environment, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        (("ign",), ["ignition"]),
        (("releases", "cu"), ["current"]),
        (("ignition", "--driver-s"), ["--driver-sysext"]),
        (("ignition", "--driver", "s"), ["sysext", "service"]),
        (("ignition", "-f", "no such"), []),
    ],
    ids=" ".join,
)
def test_bash_completes(script: Path, words: tuple[str, ...], completed: list[str]) -> None:
    assert _completed(script, "flatcar-gpu", *words) == completed


def test_shellcheck_has_nothing_to_say_of_the_bash_script(script: Path) -> None:
    done = subprocess.run([require_tool("shellcheck"), str(script)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_shell_accepts_its_script(shell: str, tmp_path: Path) -> None:
    path = tmp_path / "script"
    assert run(["completion", shell, "-o", str(path)]) == 0
    done = subprocess.run([require_tool(shell), "-n", str(path)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
