from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING

from flatcar_gpu.cli import run

if TYPE_CHECKING:
    import pytest


def _given(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    stdin = SimpleNamespace(buffer=io.BytesIO(text.encode()), isatty=lambda: False)
    monkeypatch.setattr(sys, "stdin", stdin)


def test_an_answer_is_all_that_stands_on_stdout(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    _given(monkeypatch, '{"driver":"sysext"}')
    assert run(["terraform"]) == 0
    sys.stdout.flush()
    out, err = capfdbinary.readouterr()
    assert err == b""
    assert json.loads(out)["ignition"].startswith('{"ignition"')


def test_an_error_is_a_line_without_colour_and_nothing_on_stdout(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    _given(monkeypatch, '{"arch":"riscv"}')
    assert run(["terraform"]) == 1
    assert capsys.readouterr() == ("", "error: query.arch: 'riscv' is not one of amd64, arm64\n")


def test_a_defect_is_told_without_colour_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*arguments: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr("flatcar_gpu.terraform.answer", broken)
    _given(monkeypatch, "{}")
    assert run(["terraform"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: this is a defect of flatcar-gpu: RuntimeError: broken\n")


def test_offline_can_be_an_option_of_the_program(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _given(monkeypatch, '{"flatcar":"lts-2024","driver":"sysext"}')
    assert run(["terraform", "--offline"]) == 1
    assert "error[FG202]: query.driver: " in capsys.readouterr().err


def test_machines_can_have_their_form_of_errors(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _given(monkeypatch, '{"arch":"riscv"}')
    assert run(["terraform", "--error-format", "json"]) == 1
    assert json.loads(capsys.readouterr().err)["diagnostics"][0]["path"] == "query.arch"


def test_a_terminal_is_refused_at_once() -> None:
    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "flatcar_gpu", "terraform"]
    done = subprocess.run(command, stdin=follower, capture_output=True, text=True, timeout=60)
    os.close(leader)
    os.close(follower)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: stdin is a terminal, and Terraform's query was expected; try: ")
    assert done.stderr.count("\n") == 1
