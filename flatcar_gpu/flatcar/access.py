"""How the release index may be read. Every command that makes a node loads this, so it brings nothing along."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

DEFAULT_INDEX_URL = "https://www.flatcar.org/releases-json"


def cache_folder() -> Path | None:
    """Folder of the cache by the XDG base directory specification; None where the user has no home."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(base):  # noqa: PTH117 - a Path is not needed to look at a string
        return Path(base, "flatcar-gpu", "releases")
    try:
        return Path.home() / ".cache" / "flatcar-gpu" / "releases"
    except RuntimeError:
        return None


@dataclass(frozen=True, slots=True)
class Access:
    """How the index may be read. `refresh` asks the server even while the cache is fresh; `offline` never connects."""

    index_url: str = DEFAULT_INDEX_URL
    offline: bool = False
    timeout: float = 10.0
    refresh: bool = False
    cache: Path | None = field(default_factory=cache_folder)
