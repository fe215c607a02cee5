"""The man pages, read by mandoc."""

from __future__ import annotations

import re
import subprocess
from datetime import date

import pytest

from flatcar_gpu.manual.man import man_pages
from flatcar_gpu.manual.tree import CommandText, command_texts
from tests.tools import require_tool

COMMANDS = command_texts()
PAGES = man_pages(date(2026, 1, 31))


def _rendered(page: str) -> str:
    done = subprocess.run(
        [require_tool("mandoc"), "-T", "utf8", "-O", "width=1000"], input=page.encode(), capture_output=True, check=True
    )
    without_overstrikes = re.sub(r".\x08", "", done.stdout.decode())
    return " ".join(without_overstrikes.split())


def test_mandoc_has_nothing_to_say() -> None:
    mandoc = require_tool("mandoc")
    for name, page in PAGES.items():
        done = subprocess.run([mandoc, "-T", "lint", "-W", "warning"], input=page.encode(), capture_output=True)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b""), name


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command.words))
def test_the_page_shows_what_the_help_says(command: CommandText) -> None:
    shown = _rendered(PAGES[f"{'-'.join(command.words)}.1"])
    for entry in (*command.options, *command.commands):
        assert " ".join(f"{entry.name} {entry.help}".split()) in shown
    for block in command.blocks:
        assert " ".join(block.text.split()) in shown
    assert " ".join((*command.words, *command.arguments)) in shown
