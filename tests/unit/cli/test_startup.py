"""What is imported before a command runs decides how the program feels at every TAB."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

_PROBE = """
import json, os, sys
before = set(sys.modules)
from flatcar_gpu.cli import run
try:
    run(sys.argv[1:])
except SystemExit:
    pass
sys.stdout.flush()
loaded = {name.partition(".")[0] for name in set(sys.modules) - before} - set(sys.stdlib_module_names)
own = sorted(name for name in sys.modules if name.partition(".")[0] == "flatcar_gpu")
print(json.dumps({"packages": sorted(loaded), "own": own}), file=sys.stderr)
"""

FRAME = ["flatcar_gpu", "flatcar_gpu.cli", "flatcar_gpu.cli.console", "flatcar_gpu.cli.framework", "flatcar_gpu.errors"]


def _loaded(*args: str, **environment: str) -> dict[str, list[str]]:
    done = subprocess.run(
        [sys.executable, "-c", _PROBE, *args],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    loaded: dict[str, list[str]] = json.loads(done.stderr.splitlines()[-1])
    return loaded


@pytest.mark.parametrize("args", [("--version",), ("--help",), ("ignitoin",)])
def test_only_click_is_imported_before_a_command_runs(args: tuple[str, ...]) -> None:
    assert _loaded(*args) == {"packages": ["click", "flatcar_gpu"], "own": FRAME}


@pytest.mark.parametrize("line", ["flatcar-gpu ", "flatcar-gpu ign", "flatcar-gpu --"])
def test_only_click_is_imported_to_complete_a_command_name(line: str) -> None:
    loaded = _loaded(_FLATCAR_GPU_COMPLETE="bash_complete", COMP_WORDS=line, COMP_CWORD="1")
    assert loaded == {"packages": ["click", "flatcar_gpu"], "own": FRAME}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_script_needs_only_click(shell: str) -> None:
    assert _loaded("completion", shell)["packages"] == ["click", "flatcar_gpu"]


def test_a_node_from_flags_needs_neither_pydantic_nor_the_network_libraries() -> None:
    packages = _loaded("ignition", "-o", os.devnull)["packages"]
    assert packages == ["click", "flatcar_gpu"]


def test_a_version_from_the_cache_needs_neither_yaml_nor_pydantic_nor_the_network_libraries() -> None:
    packages = _loaded("releases", "current", "--offline", "--quiet")["packages"]
    assert set(packages) == {"click", "flatcar_gpu"}
