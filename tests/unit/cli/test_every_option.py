"""No option is there without a test or a page that uses it."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

from flatcar_gpu.cli import COMMANDS, run
from flatcar_gpu.cli.framework import CommandTable
from flatcar_gpu.settings import settings
from flatcar_gpu.spec_file import load_spec

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flatcar_gpu.cli.framework import Entry
    from flatcar_gpu.settings import Setting

ROOT = Path(__file__).parents[3]


def _commands(table: Mapping[str, Entry]) -> Iterator[click.Command]:
    for entry in table.values():
        command = import_module(entry.module).command
        if isinstance(command, CommandTable):
            yield from _commands(command.table)
        else:
            yield command


def _used() -> set[str]:
    """Every long option that a test or a page, other than the generated reference, has."""
    pages = [ROOT / "README.md", ROOT / ".pre-commit-hooks.yaml", *(ROOT / "docs").rglob("*.md")]
    tests = [path for path in (ROOT / "tests").rglob("*") if path.suffix in (".py", "") and path.is_file()]
    texts = (path.read_text(errors="replace") for path in [*pages, *tests] if path.name != "reference.md")
    return {option for text in texts for option in re.findall(r"--[a-z][a-z-]+", text)}


def test_every_option_is_used_in_a_test_or_a_page() -> None:
    used = _used()
    options = (option for command in _commands(COMMANDS) for option in command.params)
    # One side of a switch stands for both.
    spellings = ([*option.opts, *option.secondary_opts] for option in options if isinstance(option, click.Option))
    assert sorted({names[-1] for names in spellings if not used.intersection(names)}) == []


SWITCHES = [setting for setting in settings().values() if setting.kind is bool]


@pytest.mark.parametrize("setting", SWITCHES, ids=lambda setting: setting.key)
def test_every_switch_of_a_spec_file_can_be_turned_over_by_a_flag(setting: Setting, tmp_path: Path) -> None:
    on, off = setting.flag.split("/")
    assert off == on.replace("--", "--no-", 1)
    sections = setting.key.split(".")
    text = "".join(f"{'  ' * depth}{section}:" + "\n" for depth, section in enumerate(sections[:-1]))
    path = tmp_path / "spec.yaml"
    path.write_text(f"{text}{'  ' * (len(sections) - 1)}{sections[-1]}: true\n")
    assert setting.value_in(load_spec(str(path), {}).spec) is True
    assert setting.value_in(load_spec(str(path), {setting.key: False}).spec) is False


def test_kepler_is_rendered_where_the_flag_asks_for_it(tmp_path: Path) -> None:
    spec = tmp_path / "spec.yaml"
    spec.write_text("driver: {strategy: sysext}\nmonitoring: {kepler: {enabled: true}}\n")
    out = tmp_path / "out"
    values = out / "monitoring" / "kepler-values.yaml"
    assert run(["render", "-f", str(spec), "-o", str(out), "-q"]) == 0
    assert "nvidia:" not in values.read_text()
    assert run(["render", "-f", str(spec), "-o", str(out), "-q", "--kepler-chart-has-nvml"]) == 0
    assert "nvidia:" in values.read_text()
    assert run(["render", "-f", str(spec), "-o", str(out), "-q", "--no-kepler"]) == 0
    assert not values.exists()


@pytest.mark.parametrize("spelling", ["--colour", "--color"])
def test_colour_has_two_spellings(spelling: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["butane", "--usr-local", "none", spelling]) == 1
    assert "\x1b[1;31m" in capsys.readouterr().err


def test_verbose_says_where_a_release_is_known_from(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["butane", "--flatcar", "4593.2.5", "--hold-updates", "--offline", "--verbose"]) == 0
    assert "release index: " in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--follow-outside", "--no-follow-outside"])
def test_links_out_of_the_files_folder_are_followed_or_refused(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "outside").write_text("secret")
    (tmp_path / "files" / "link").symlink_to("../outside")
    config = tmp_path / "a.bu"
    config.write_text(
        "variant: flatcar\nversion: 1.0.0\nstorage:\n  files:\n    - {path: /etc/a, contents: {local: link}}\n"
    )
    code = run(["merge", str(config), "--files-dir", str(tmp_path / "files"), option])
    out, err = capsys.readouterr()
    assert (code, "secret" in out) == ((0, True) if option == "--follow-outside" else (1, False)), err


def test_transpile_takes_butane_s_raw_option(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    config = tmp_path / "a.bu"
    config.write_text("variant: flatcar\nversion: 1.0.0\n")
    assert run(["transpile", "--raw", str(config)]) == 0
    assert capsys.readouterr().out == '{"ignition":{"version":"3.3.0"}}\n'


def test_a_helm_plugin_can_have_another_name(tmp_path: Path) -> None:
    folder = tmp_path / "plugin"
    assert run(["nvml", "helm-plugin", "--name", "kepler", "--plugin-name", "own-name", "-o", str(folder)]) == 0
    assert "name: own-name" in (folder / "plugin.yaml").read_text()
