"""Files that are read: `butane/` and `units/` (beside the package in a checkout, inside it in a wheel), data tables."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).parent


@cache
def unit_text(name: str) -> str:
    """Text of a file in `units/`, e.g. `usr-local.mount` or `containerd.service.d/10-gpu-operator.conf`."""
    return _read(f"units/{name}")


@cache
def snippet_text(name: str) -> str:
    """Text of a Butane snippet in `butane/`, e.g. `usr-local-overlay.bu`."""
    return _read(f"butane/{name}")


def data_text(name: str) -> str:
    """Text of a data file of the package, e.g. `flatcar/data/snapshot.json`."""
    return _read(name)


def _read(name: str) -> str:
    # The module's loader reads from a zip file as well as from a folder.
    loader = __spec__.loader
    try:
        data: bytes = loader.get_data(str(_PACKAGE / name))  # type: ignore[union-attr]
    except OSError:
        data = loader.get_data(str(_PACKAGE.parent / name))  # type: ignore[union-attr]
    return data.decode()
