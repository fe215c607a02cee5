"""systemd has nothing to say about the units that land on a node.

Units that Flatcar has itself and our drop-ins change are looked up on this machine: Debian's are as good for it.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.contract.emitted import IgnitionConfig, emitted_ignition
from tests.tools import require_tool

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).parents[2]

# Texts by path below the folder of units.
SHIPPED = {
    str(path.relative_to(ROOT / "units")): path.read_text() for path in (ROOT / "units").rglob("*.*") if path.is_file()
}


def verify(folder: Path, files: Mapping[str, str]) -> str:
    """What `systemd-analyze verify` says about the units that `files` hold or change, with all files in `folder`."""
    analyze = require_tool("systemd-analyze")
    require_tool("containerd")
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    units = sorted({path.partition("/")[0].removesuffix(".d") for path in files})
    done = subprocess.run(
        [analyze, "verify", "--man=no", *units],
        # Looked up in the folder, then where systemd on this machine looks.
        env={**os.environ, "SYSTEMD_UNIT_PATH": f"{folder}:"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.stdout.strip() or ("" if done.returncode == 0 else f"systemd-analyze exits {done.returncode}")


def test_shipped_units_are_verified_without_a_word(tmp_path: Path) -> None:
    assert verify(tmp_path, SHIPPED) == ""


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--hold-updates",),
        ("--usr-local-upper", "/var/lib/usr-local/upper", "--usr-local-work", "/var/lib/usr-local/work"),
        ("--toolkit-install-dir", "/opt/nvidia"),
    ],
    ids=lambda options: " ".join(options) or "defaults",
)
def test_emitted_units_are_verified_without_a_word(options: tuple[str, ...], tmp_path: Path) -> None:
    files = IgnitionConfig.parse(emitted_ignition(*options)).unit_files()
    assert files
    assert verify(tmp_path, files) == ""


@pytest.mark.parametrize("path", sorted(SHIPPED))
def test_verify_reads_every_shipped_file(path: str, tmp_path: Path) -> None:
    assert "'Misspelt'" in verify(tmp_path, {**SHIPPED, path: SHIPPED[path] + "Misspelt=yes\n"})
