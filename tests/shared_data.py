"""Real data that some tests use when it lies beside the repository; it is no part of the project."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def require_shared(subpath: str) -> Path:
    """Path below the folder FLATCAR_GPU_SHARED (../shared unless set); the test is skipped where it is not there."""
    path = Path(os.environ.get("FLATCAR_GPU_SHARED") or ROOT.parent / "shared") / subpath
    if not path.exists():
        pytest.skip(f"{path} is not there")
    return path
