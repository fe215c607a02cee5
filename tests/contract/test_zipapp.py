"""The zipapp runs where there is only Python: no site-packages, no environment, another folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from flatcar_gpu import __version__
from tests.tools import require_tool, unavailable

ROOT = Path(__file__).parents[2]
BUTANE = "variant: flatcar\nversion: 1.0.0\nstorage: {files: [{path: /etc/gpu, contents: {inline: yes}}]}\n"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def zipapp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    make = require_tool("make")
    if find_spec("shiv") is None:
        unavailable("shiv is not installed")
    path = tmp_path_factory.mktemp("dist") / "flatcar-gpu.pyz"
    # -o: the environment that the tests run in is taken as it is.
    command = [make, "zipapp", f"VENV={sys.prefix}", f"ZIPAPP={path}", "-o", f"{sys.prefix}/.installed-dev"]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "PIP_RETRIES": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if "Temporary failure in name resolution" in done.stdout or "NewConnectionError" in done.stdout:
        unavailable("the package index cannot be reached")
    assert done.returncode == 0, done.stdout
    return path


def _run(zipapp: Path, folder: Path, *args: str, given: str = "") -> str:
    python = str(Path(sys.base_prefix) / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}")
    done = subprocess.run(
        [python, "-I", "-S", str(zipapp), *args],
        cwd=folder,
        env={"SHIV_ROOT": str(zipapp.parent / "unpacked"), "HOME": str(folder)},
        input=given,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_it_tells_its_version(zipapp: Path, tmp_path: Path) -> None:
    assert _run(zipapp, tmp_path, "--version") == f"flatcar-gpu {__version__}\n"


def test_it_writes_a_node_with_the_units(zipapp: Path, tmp_path: Path) -> None:
    node = json.loads(_run(zipapp, tmp_path, "ignition"))
    assert "usr-local.mount" in [unit["name"] for unit in node["systemd"]["units"]]


def test_it_transpiles(zipapp: Path, tmp_path: Path) -> None:
    config = json.loads(_run(zipapp, tmp_path, "transpile", given=BUTANE))
    assert config["storage"]["files"][0]["path"] == "/etc/gpu"


def test_it_has_the_libraries_with_compiled_parts(zipapp: Path, tmp_path: Path) -> None:
    assert "properties" in json.loads(_run(zipapp, tmp_path, "schema"))
    (tmp_path / "gpu.yaml").write_text(_run(zipapp, tmp_path, "init"))
    _run(zipapp, tmp_path, "check", "--offline", "--quiet", "gpu.yaml")
