from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from importlib import import_module
from typing import TYPE_CHECKING

import click
import pytest

from flatcar_gpu import __version__
from flatcar_gpu.cli import COMMANDS, root, run
from flatcar_gpu.cli.framework import CommandTable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from flatcar_gpu.cli.framework import Entry


def _entries(table: Mapping[str, Entry], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, entry in table.items():
        yield (*above, name)
        command = import_module(entry.module).command
        if isinstance(command, CommandTable):
            yield from _entries(command.table, (*above, name))


PATHS = list(_entries(COMMANDS))


@pytest.mark.parametrize("path", PATHS, ids=" ".join)
def test_every_command_explains_itself(path: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*path, "--help"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith(f"Usage: flatcar-gpu {' '.join(path)}")
    assert err == ""


@pytest.mark.parametrize("path", PATHS, ids=" ".join)
def test_every_option_has_a_help_and_a_variable(path: tuple[str, ...]) -> None:
    command: click.Command = root
    for name in path:
        assert isinstance(command, CommandTable)
        found = command.get_command(click.Context(command), name)
        assert found is not None
        command = found
    for option in command.params:
        if isinstance(option, click.Option):
            assert option.help, option.name
            assert f"--{str(option.envvar).removeprefix('FLATCAR_GPU_').lower().replace('_', '-')}" in option.opts


def test_the_version_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"flatcar-gpu {__version__}\n"


def test_a_misspelt_command_is_a_usage_error_that_names_the_right_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ignitoin"]) == 2
    assert "Did you mean 'ignition'?" in capsys.readouterr().err


def test_an_unknown_option_is_a_usage_error_that_names_the_right_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["butane", "--drive", "none"]) == 2
    assert "--driver" in capsys.readouterr().err


def test_options_can_be_given_as_variables_and_flags_win(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FLATCAR_GPU_MODULES", "from_environment")
    monkeypatch.setenv("FLATCAR_GPU_HOLD_UPDATES", "1")
    assert run(["butane"]) == 0
    out = capsys.readouterr().out
    assert "from_environment" in out
    assert "SERVER=disabled" in out
    assert run(["butane", "--modules", "from_flag", "--no-hold-updates"]) == 0
    out = capsys.readouterr().out
    assert "from_environment" not in out
    assert "from_flag" in out
    assert "SERVER=disabled" not in out


def test_errors_as_json_have_no_other_text_around_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["butane", "--toolkit-install-dir", "/usr/nvidia", "--error-format", "json"]) == 1
    found = json.loads(capsys.readouterr().err)
    assert [problem["rule"] for problem in found["diagnostics"]] == ["FG111"]


@pytest.mark.parametrize(
    ("args", "environment", "colored"),
    [
        (["--color"], {}, True),
        (["--color=never"], {"FORCE_COLOR": "1"}, False),
        ([], {"FORCE_COLOR": "1"}, True),
        ([], {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ([], {}, False),
    ],
)
def test_colour_is_asked_for_by_flag_or_variable(
    args: list[str],
    environment: dict[str, str],
    colored: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    run(["butane", "--usr-local", "none", *args])
    assert ("\x1b[1;31merror" in capsys.readouterr().err) is colored


def test_quiet_keeps_warnings_back_but_not_errors(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["butane", "--driver", "sysext", "--check", "-q"]) == 0
    assert capsys.readouterr().err == ""
    assert run(["butane", "--usr-local", "none", "-q"]) == 1
    assert "FG111" in capsys.readouterr().err


def test_strict_lets_warnings_fail_and_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "node.bu"
    assert run(["butane", "--driver", "sysext", "--strict", "-o", str(target)]) == 1
    assert "warning[FG115]" in capsys.readouterr().err
    assert not target.exists()


def test_a_defect_shows_a_traceback_only_with_debug(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from flatcar_gpu import assembly

    def broken(_: object) -> None:
        raise ZeroDivisionError("boom")

    monkeypatch.setattr(assembly, "build", broken)
    assert run(["butane"]) == 1
    err = capsys.readouterr().err
    assert "this is a defect of flatcar-gpu: ZeroDivisionError: boom" in err
    assert "Traceback" not in err
    assert run(["butane", "--debug"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_an_interrupt_ends_with_130(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from flatcar_gpu import assembly

    monkeypatch.setattr(assembly, "build", lambda _: signal.raise_signal(signal.SIGINT))
    assert run(["butane"]) == 130
    assert capsys.readouterr().err.strip() == "error: interrupted"


def test_a_reader_that_goes_away_is_no_traceback() -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([sys.executable, "-m", "flatcar_gpu", "butane"], stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    assert done.returncode == 1
    assert done.stderr == b""
