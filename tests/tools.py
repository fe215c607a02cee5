"""Real tools that tests use when the machine has them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import NoReturn

import pytest

DRACUT_IGNITION = Path("/usr/lib/dracut/modules.d/30ignition/ignition")


def require_tool(name: str, path: Path | None = None) -> str:
    """Path of the tool; where it is missing the test is skipped, or fails with FLATCAR_GPU_REQUIRE_TOOLS=1."""
    # Debian keeps file system tools where a plain user's PATH does not lead.
    places = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"])
    found = shutil.which(name, path=places) if path is None else (str(path) if path.exists() else None)
    return found or unavailable(f"{name} is not installed")


def require_root() -> None:
    """Without root the test is skipped, or fails with FLATCAR_GPU_REQUIRE_TOOLS=1."""
    if os.geteuid() != 0:
        unavailable("needs root")


def unavailable(reason: str) -> NoReturn:
    """Skip the running test, or fail it with FLATCAR_GPU_REQUIRE_TOOLS=1."""
    if os.environ.get("FLATCAR_GPU_REQUIRE_TOOLS") == "1":
        pytest.fail(f"{reason}, and FLATCAR_GPU_REQUIRE_TOOLS=1 forbids to skip")
    pytest.skip(reason)
