"""The examples do what they say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_the_example_program_translates_its_folder() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "examples/butane/transpile.py"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "data-disk.bu 3.4.0",
        "mistakes.bu config generated was invalid",
        "web.bu 3.3.0",
    ]
