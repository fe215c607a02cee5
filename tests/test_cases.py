"""Runs every folder below tests/cases.

`command` holds the arguments of flatcar-gpu, which runs inside the folder; `stdin`, `stdout`, `stderr` and `exit` hold
what goes in and must come out, where they are missing: nothing, and exit code 0.
"""

from __future__ import annotations

import io
import shlex
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from flatcar_gpu.cli import run

CASES = Path(__file__).parent / "cases"


def _cases() -> list[Path]:
    return [command.parent for command in sorted(CASES.rglob("command"))]


def _expected(case: Path, name: str) -> str:
    path = case / name
    return path.read_text() if path.exists() else ""


@pytest.mark.parametrize("case", _cases(), ids=lambda case: str(case.relative_to(CASES)))
def test_case(case: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(case)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(_expected(case, "stdin").encode())))
    code = run(shlex.split(_expected(case, "command")))
    sys.stdout.flush()
    out, err = capfd.readouterr()
    assert err == _expected(case, "stderr")
    assert out == _expected(case, "stdout")
    assert code == int(_expected(case, "exit") or 0)
