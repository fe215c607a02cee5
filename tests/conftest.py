"""Every test runs without the user's FLATCAR_GPU_* variables, colours and cache."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from pathlib import Path

# Timing is never asserted: a busy machine must not make a test fail.
settings.register_profile("without deadline", deadline=None)
settings.load_profile("without deadline")

# Set by whoever runs the tests; everything else of that prefix is an option of the program.
_FOR_TESTS = {"FLATCAR_GPU_REQUIRE_TOOLS", "FLATCAR_GPU_SHARED", "FLATCAR_GPU_VM_CACHE"}


@pytest.fixture(autouse=True)
def _neutral_environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    for name in list(os.environ):
        if name in ("NO_COLOR", "FORCE_COLOR") or (name.startswith("FLATCAR_GPU_") and name not in _FOR_TESTS):
            monkeypatch.delenv(name)
    cache: Path = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
