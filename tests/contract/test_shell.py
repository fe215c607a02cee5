"""Every shell script of the tree passes shellcheck."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.tools import require_tool

ROOT = Path(__file__).parents[2]


def _scripts() -> list[Path]:
    """Files that git knows or would add, named *.sh or begun like a shell script."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True
    )
    names = listed.stdout.decode().split("\0") if listed.returncode == 0 else []
    # An unpacked source distribution has no git, and nothing that the project did not ship.
    paths = [ROOT / name for name in names if name] or [path for path in ROOT.rglob("*") if ".venv" not in path.parts]
    return sorted(path for path in paths if path.is_file() and _is_shell(path))


def _is_shell(path: Path) -> bool:
    if path.suffix == ".sh":
        return True
    with path.open("rb") as file:
        first = file.readline(80)
    interpreter = first.removeprefix(b"#!").split()
    return first.startswith(b"#!") and any(
        word.rpartition(b"/")[2] in (b"sh", b"bash", b"dash") for word in interpreter
    )


SCRIPTS = _scripts()


def test_the_scripts_are_found() -> None:
    assert ROOT / "tests/install-tools.sh" in SCRIPTS


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_shellcheck_has_nothing_to_say(script: Path) -> None:
    shellcheck = require_tool("shellcheck")
    done = subprocess.run([shellcheck, str(script)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
