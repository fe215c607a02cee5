"""What the release index costs: whole processes beside a bare Python, and reading the index."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from flatcar_gpu.flatcar.access import DEFAULT_INDEX_URL, cache_folder
from flatcar_gpu.flatcar.cache import Entry, write_entry
from flatcar_gpu.flatcar.snapshot import snapshot
from tests.bench._processes import PROGRAM, against_bare_python

if TYPE_CHECKING:
    from collections.abc import Iterator


def measure() -> Iterator[str]:
    """`releases current` from a warm cache is to take at most 12 times as long as `python -c pass`."""
    kept = os.environ.get("XDG_CACHE_HOME")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        try:
            for channel in ("stable", "lts"):
                url = f"{DEFAULT_INDEX_URL}/releases-{channel}.json"
                write_entry(cache_folder(), Entry(url, snapshot().only(channel), time.time()))
            assert cache_folder() == Path(folder, "flatcar-gpu", "releases")
            yield from against_bare_python(
                {
                    "releases current, warm cache": [*PROGRAM, "-q", "releases", "current"],
                    "releases current --channel lts-2024, warm cache": [
                        *PROGRAM, "-q", "releases", "current", "--channel", "lts-2024",
                    ],
                    "releases current --offline, snapshot": [
                        *PROGRAM, "-q", "releases", "current", "--channel", "beta", "--offline",
                    ],
                    "releases list --offline": [*PROGRAM, "-q", "releases", "list", "--offline"],
                    "releases show 4593.2.5": [*PROGRAM, "-q", "releases", "show", "4593.2.5"],
                }
            )  # fmt: skip
        finally:
            os.environ.pop("XDG_CACHE_HOME")
            if kept is not None:
                os.environ["XDG_CACHE_HOME"] = kept
