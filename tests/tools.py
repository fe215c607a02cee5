"""Real tools that tests use when the machine has them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

DRACUT_IGNITION = Path("/usr/lib/dracut/modules.d/30ignition/ignition")


def require_tool(name: str, path: Path | None = None) -> str:
    """Path of the tool; where it is missing the test is skipped, or fails with FLATCAR_GPU_REQUIRE_TOOLS=1."""
    found = shutil.which(name) if path is None else (str(path) if path.exists() else None)
    if found:
        return found
    reason = f"{name} is not installed"
    if os.environ.get("FLATCAR_GPU_REQUIRE_TOOLS") == "1":
        pytest.fail(f"{reason}, and FLATCAR_GPU_REQUIRE_TOOLS=1 forbids to skip")
    pytest.skip(reason)
