"""Butane configs of the flatcar variant to Ignition configs, as coreos/butane makes them.

    result = transpile(Path("node.bu").read_bytes(), files_dir="files")
    if result.ignition is None:
        print(result.failure, result.report.as_text())

Nothing here prints, exits or changes global state; tables are made once, so many configs in one process are cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from flatcar_gpu.transpile.encode import encode
from flatcar_gpu.transpile.merge import merge
from flatcar_gpu.transpile.pipeline import Result, raw_report, transpile, transpile_tree

if TYPE_CHECKING:
    from flatcar_gpu.transpile.documents import Document, read_document
    from flatcar_gpu.transpile.joining import Joined, join
    from flatcar_gpu.transpile.validation import Validation, validate_ignition

# Loaded when they are first asked for: making a node needs none of them.
_LATE = {
    "Document": "documents",
    "Joined": "joining",
    "Validation": "validation",
    "join": "joining",
    "read_document": "documents",
    "validate_ignition": "validation",
}

__all__ = [
    "Document",
    "Joined",
    "Result",
    "Validation",
    "encode",
    "join",
    "merge",
    "raw_report",
    "read_document",
    "transpile",
    "transpile_tree",
    "validate_ignition",
]


def __getattr__(name: str) -> object:
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LATE[name]}"), name)
