"""The commands `transpile` and `validate`."""

from __future__ import annotations

import json
import os
import pty
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from flatcar_gpu.cli import run

GOOD = "variant: flatcar\nversion: 1.0.0\nstorage: {files: [{path: /a}]}\n"
WARNS = "variant: flatcar\nversion: 1.0.0\ncolour: blue\n"
BAD = "variant: flatcar\nversion: 1.0.0\nstorage: {files: [{path: a}]}\n"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in (("good.bu", GOOD), ("warns.bu", WARNS), ("bad.bu", BAD), ("bad.ign", '{"ignition":{}}')):
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_output_is_written_for_the_owner_alone(files: Path) -> None:
    assert run(["transpile", "good.bu", "-o", "out.ign"]) == 0
    assert json.loads((files / "out.ign").read_bytes())["ignition"] == {"version": "3.3.0"}
    assert stat.S_IMODE((files / "out.ign").stat().st_mode) == 0o600


@pytest.mark.parametrize("arguments", [["bad.bu"], ["-s", "warns.bu"], ["-c", "good.bu"], ["no-such.bu"]])
def test_nothing_is_written_otherwise(arguments: list[str], files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (files / "out.ign").write_text("old")
    assert run(["transpile", *arguments, "-o", "out.ign"]) == (0 if "-c" in arguments else 1)
    assert (files / "out.ign").read_text() == "old"
    assert capfd.readouterr().out == ""


def test_raw_errors_are_those_of_butane(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["transpile", "--raw-errors", "--strict", "warns.bu"]) == 1
    out, err = capfd.readouterr()
    assert out == ""
    assert err == (
        "warning at $.colour, line 3 col 1: unused key colour\nConfig produced warnings and --strict was specified\n"
    )


def test_the_report_shows_the_line_and_a_way_out(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["transpile", "bad.bu"]) == 1
    err = capfd.readouterr().err
    assert "bad.bu:3:26: error: $.storage.files.0.path: path not absolute\n" in err
    assert "  try: let it begin with a slash\n" in err


def test_local_files_need_their_folder(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (files / "local.bu").write_text(GOOD.replace("/a", "/a, contents: {local: ../good.bu}"))
    (files / "inner").mkdir()
    assert run(["transpile", "local.bu"]) == 1
    assert "give the folder with --files-dir DIR" in capfd.readouterr().err
    assert run(["transpile", "local.bu", "-d", "inner"]) == 1
    assert "local file path traverses outside the files directory" in capfd.readouterr().err
    (files / "inner/link").symlink_to("../good.bu")
    (files / "local.bu").write_text(GOOD.replace("/a", "/a, contents: {local: link}"))
    assert run(["transpile", "local.bu", "-d", "inner"]) == 0
    assert run(["transpile", "local.bu", "-d", "inner", "--no-follow-outside"]) == 1


def test_a_terminal_without_a_file_is_a_usage_error() -> None:
    controller, terminal = pty.openpty()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "flatcar_gpu", "transpile"],
            stdin=terminal,
            capture_output=True,
            text=True,
            timeout=60,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
        )
    finally:
        os.close(controller)
        os.close(terminal)
    assert done.returncode == 2
    assert "Name a file" in done.stderr


def test_validate_tells_of_all_files_at_once(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["validate", "good.bu", "bad.bu", "bad.ign", "no-such.bu"]) == 1
    err = capfd.readouterr().err
    assert "bad.bu:3:26: error" in err
    assert "bad.ign:1:13: error: $.ignition.version: invalid config version (couldn't parse)" in err
    assert "cannot read no-such.bu" in err
    assert run(["validate", "good.bu", "warns.bu"]) == 0
    assert run(["validate", "--strict", "warns.bu"]) == 1


def test_validate_says_which_rules_were_applied(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (files / "new.ign").write_text('{"ignition":{"version":"3.5.0"}}')
    assert run(["validate", "new.ign"]) == 0
    assert "structure and the rules that all 3.x versions share for 3.5.0" in capfd.readouterr().err
