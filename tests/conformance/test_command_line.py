"""The command `transpile`, against recorded runs of butane's command line."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conformance.corpus import FOLDER

ROOT = Path(__file__).parents[2]

# Each with its reason in README.md.
OTHER_CODE = {"dash-is-a-file-name", "input-flag", "input-flag-and-arg", "pretty-false", "color-unknown-value"}
OTHER_TEXT = {"help"}

RUNS = [json.loads(line) for line in (FOLDER / "command-line.jsonl").read_text().splitlines()]


@pytest.fixture
def workplace(tmp_path: Path, corpus_folder: Path) -> Path:
    for path in (FOLDER / "inputs").glob("*.bu"):
        if path.stem in ("f10-hdr-minimal", "f10-node-path-relative", "f10-yaml-unknown-top"):
            shutil.copy(path, tmp_path)
    (tmp_path / "files").symlink_to(corpus_folder / "files")
    (tmp_path / "cli").mkdir()
    return tmp_path


@pytest.mark.parametrize("run", [run for run in RUNS if run["name"] not in OTHER_CODE], ids=lambda run: run["name"])
def test_exit_code_and_stdout_are_those_of_butane(run: dict[str, str], workplace: Path) -> None:
    with (workplace / run["stdin"]).open("rb") as stdin:
        done = subprocess.run(
            [sys.executable, "-m", "flatcar_gpu", "transpile", *run["argv"].split()],
            cwd=workplace,
            env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
            stdin=stdin,
            capture_output=True,
            text=True,
        )
    assert done.returncode == int(run["exit"]), done.stderr
    assert "Traceback" not in done.stderr
    if run["name"] not in OTHER_TEXT:
        assert done.stdout == run["stdout"]
    assert (workplace / "cli/out.ign").exists() is bool(run["wrote_output_file"])


def test_every_difference_is_explained() -> None:
    readme = (Path(__file__).parent / "README.md").read_text()
    for name in OTHER_CODE | OTHER_TEXT:
        assert f"`{name}`" in readme
