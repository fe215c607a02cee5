"""Every command in the documentation runs, and prints what the documentation says.

A block marked ```console is a session: lines after `$ ` are commands (a `\\` at the end goes on in the next line), what
follows is their output, in which a line `...` stands for any lines. Words behind `console` name the tools it needs.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.tools import require_tool

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@dataclass
class Step:
    line: int
    command: str
    tools: list[str]
    output: list[str] = field(default_factory=list)


def _steps(page: Path) -> list[Step]:
    steps: list[Step] = []
    tools: list[str] | None = None
    continued = False
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if line.startswith("```"):
            words = line.removeprefix("```").split()
            tools = words[1:] if words[:1] == ["console"] else None
        elif tools is not None and (line.startswith("$ ") or continued):
            if continued:
                steps[-1].command += "\n" + line
            else:
                steps.append(Step(number, line.removeprefix("$ "), tools))
            continued = line.endswith("\\")
        elif tools is not None:
            steps[-1].output.append(line)
    return steps


def _pattern(lines: list[str]) -> str:
    parts = ["(.*\n)*" if line.strip() == "..." else re.escape(line) + "\n" for line in lines]
    return "".join(parts)


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the examples, and a PATH on which `flatcar-gpu` is this program."""
    for name in ("examples", "butane", "units"):
        shutil.copytree(ROOT / name, tmp_path / name)
    programs = tmp_path / ".programs"
    programs.mkdir()
    program = programs / "flatcar-gpu"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m flatcar_gpu "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("FLATCAR_GPU_OFFLINE", "1")
    yield tmp_path
    shutil.rmtree(programs)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_documented_commands_print_what_the_page_says(page: Path, workplace: Path) -> None:
    for step in _steps(page):
        for tool in step.tools:
            require_tool(tool)
        done = subprocess.run(
            ["bash", "-c", step.command],
            cwd=workplace,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
        )
        where = f"{page.name}:{step.line}: {step.command}"
        assert "Traceback" not in done.stdout, where
        if step.output:
            assert re.fullmatch(_pattern(step.output), done.stdout), f"{where}\nprinted:\n{done.stdout}"
        else:
            assert done.returncode == 0, f"{where}\nprinted:\n{done.stdout}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_of_a_page_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if ":" not in target:
            name, _, heading = target.partition("#")
            linked = (page.parent / name).resolve() if name else page
            assert linked.exists(), target
            assert not heading or heading in _anchors(linked), target


def _anchors(page: Path) -> set[str]:
    """What headings are called in links, as GitHub does it."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_readme_has_the_two_commands() -> None:
    text = (ROOT / "README.md").read_text()
    assert "\nmake\n" in text
    assert "\nmake test\n" in text
