"""How many configs a second one process translates, and what that takes of memory; beside butane where that is."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from flatcar_gpu.transpile import transpile
from tests.bench._processes import PROGRAM, medians

if TYPE_CHECKING:
    from collections.abc import Iterator

SMALL = Path(__file__).parents[2] / "examples/butane/web.bu"
TREE = b"variant: flatcar\nversion: 1.0.0\nstorage: {trees: [{local: .}]}\n"
_PEAK = """
import resource, sys
from pathlib import Path
from flatcar_gpu.transpile import transpile
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
transpile(Path(sys.argv[1]).read_bytes(), files_dir=sys.argv[2])
print(before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def measure() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _plant(folder / "files")
        tree = folder / "tree.bu"
        tree.write_bytes(TREE)
        for title, path in (("small config (user, file, unit)", SMALL), ("tree of 104 text files, 1 MB", tree)):
            yield from _in_process(title, path, folder / "files")
        yield from _beside_butane(tree, folder / "files")


def _plant(folder: Path) -> None:
    words = [bytes(random.Random(number).choices(b"abcdefghijklmnop", k=7)) for number in range(2000)]  # noqa: S311
    folder.mkdir()
    for number in range(104):
        text = b" ".join(random.Random(number).choices(words, k=1250))  # noqa: S311
        (folder / f"file{number}.txt").write_bytes(text)


def _in_process(title: str, path: Path, files: Path) -> Iterator[str]:
    source = path.read_bytes()
    rounds: list[float] = []
    for _ in range(7):
        start, done = time.perf_counter(), 0
        while time.perf_counter() - start < 0.5:
            transpile(source, files_dir=str(files))
            done += 1
        rounds.append((time.perf_counter() - start) / done)
    seconds = median(rounds)
    peak = subprocess.run(
        [sys.executable, "-c", _PEAK, str(path), str(files)], capture_output=True, text=True, check=True
    ).stdout.split()
    yield (
        f"{title:<36} {1 / seconds:8.0f} a second  {seconds * 1000:8.2f} ms each  "
        f"peak {int(peak[1]) / 1024:.0f} MiB ({int(peak[0]) / 1024:.0f} MiB before it)"
    )


def _beside_butane(tree: Path, files: Path) -> Iterator[str]:
    butane = shutil.which("butane")
    if butane is None:
        yield "butane is not on the PATH: nothing to compare whole processes with"
        return
    commands = {
        f"{name} {path.name}": [*program, "-d", str(files), str(path)]
        for path in (SMALL, tree)
        for name, program in (("butane", [butane]), ("flatcar-gpu transpile", [*PROGRAM, "transpile"]))
    }
    for name, seconds in medians(commands).items():
        yield f"{name:<36} {seconds * 1000:8.1f} ms a process"
