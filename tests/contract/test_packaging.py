"""The distribution installs from scratch and finds its files."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    (found,) = folder.glob("*.whl")
    return found


def test_the_wheel_holds_the_snippets_and_the_units(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for kind in ("butane", "units"):
        for path in (ROOT / kind).rglob("*"):
            if path.is_file():
                assert f"flatcar_gpu/{path.relative_to(ROOT)}" in names


def test_an_installed_wheel_makes_the_same_node_as_the_checkout(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    probe = "import sys, flatcar_gpu.cli; print(flatcar_gpu.__file__, file=sys.stderr); flatcar_gpu.cli.main()"

    def ignition(path: Path) -> tuple[bytes, str]:
        command = [sys.executable, "-c", probe, "ignition"]
        done = subprocess.run(command, cwd=tmp_path, env={"PYTHONPATH": str(path)}, capture_output=True, check=True)
        return done.stdout, done.stderr.decode().strip()

    installed, where = ignition(site)
    assert where.startswith(str(site))
    assert installed == ignition(ROOT)[0]
    assert b"usr-local.mount" in installed
