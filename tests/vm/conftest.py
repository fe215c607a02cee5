"""Fixtures of the machines, and a line for each boot at the end of the run."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.vm.system import BOOKWORM, TRIXIE, Suite, System, cache_folder, system

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.vm.machine import Boot

# Read before any test begins: during tests the user's cache is out of reach.
_CACHE = cache_folder()
_BOOTS = pytest.StashKey[list[str]]()


@pytest.fixture(scope="module", params=[BOOKWORM, TRIXIE], ids=lambda suite: suite.name)
def suite(request: pytest.FixtureRequest) -> Suite:
    found: Suite = request.param
    return found


@pytest.fixture(scope="module")
def debian(suite: Suite) -> System:
    """The system of the suite that the test runs for."""
    return system(suite, _CACHE)


@pytest.fixture(scope="module")
def machine_folder(suite: Suite) -> Callable[[str], Path]:
    """Makes an empty folder for a machine of that name; its logs stay there until the next run."""

    def empty_folder(name: str) -> Path:
        folder = _CACHE / "machines" / f"{suite.name}-{name}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    return empty_folder


@pytest.fixture(scope="module")
def tell(request: pytest.FixtureRequest, suite: Suite) -> Callable[[str, Boot], None]:
    """Notes a sentence about a boot for the end of the run."""

    def note(sentence: str, boot: Boot) -> None:
        where = f"{suite.name}, systemd {suite.systemd}, {boot.accelerator}, {boot.seconds:.0f} s"
        request.config.stash.setdefault(_BOOTS, []).append(f"{where}: {sentence}\n    {boot.logs}")

    return note


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if boots := config.stash.get(_BOOTS, []):
        terminalreporter.section("machines booted")
        for line in boots:
            terminalreporter.write_line(line)
