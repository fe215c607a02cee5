"""Whole processes, timed side by side."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_INSTALLED = Path(sys.executable).parent / "flatcar-gpu"
PROGRAM = [str(_INSTALLED)] if _INSTALLED.exists() else [sys.executable, "-m", "flatcar_gpu"]
BARE = [sys.executable, "-c", "pass"]


def medians(commands: Mapping[str, Sequence[str]], rounds: int = 25) -> dict[str, float]:
    """Median wall time in seconds of each command; the commands take turns, so that noise meets all alike."""
    times: dict[str, list[float]] = {name: [] for name in commands}
    for number in range(rounds + 2):
        for name, command in commands.items():
            start = time.perf_counter()
            subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
            if number >= 2:  # the first two rounds warm the file cache
                times[name].append(time.perf_counter() - start)
    return {name: median(values) for name, values in times.items()}


def against_bare_python(commands: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """A line a command: its median, and how many times that of `python -c pass`."""
    found = medians({"python -c pass": BARE, **commands})
    bare = found["python -c pass"]
    for name, seconds in found.items():
        yield f"{name:<48} {seconds * 1000:7.1f} ms  {seconds / bare:5.1f} x"
