"""Configs as people keep them, in files of Butane or Ignition, read alike."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flatcar_gpu.transpile.pipeline import transpile
from flatcar_gpu.transpile.validation import Validation, validate_ignition

if TYPE_CHECKING:
    from flatcar_gpu.report import Report
    from flatcar_gpu.transpile.paths import Places

_BUTANE = (".bu", ".butane", ".yaml", ".yml")
_IGNITION = (".ign", ".ignition", ".json")
# Of a JSON text only a key can look so; Ignition has none of that name.
_BUTANE_KEY = re.compile(rb'"variant"\s*:')


@dataclass(frozen=True, slots=True)
class Document:
    """A config from a file: its name, what was found in it, and its Ignition tree (None where it has errors)."""

    name: str
    report: Report
    config: Any = None
    places: Places | None = None
    validation: Validation | None = None
    """How far Ignition's rules were applied; None for Butane, of which all are."""


def read_document(name: str, data: bytes, *, files_dir: str | None = None, follow_outside: bool = True) -> Document:
    """Read and check a config. Problems name the file; local files of Butane are read below `files_dir`."""
    if is_ignition(name, data):
        validation = validate_ignition(data)
        report = validation.report.in_file(name)
        config = None if report.has_errors else validation.config
        return Document(name, report, config, validation.places, validation)
    result = transpile(data, files_dir=files_dir, follow_outside=follow_outside)
    return Document(name, result.findings.in_file(name), result.config, result.places)


def is_ignition(name: str, data: bytes) -> bool:
    """By the ending of the file's name; without one that is known, JSON is Ignition unless it names a variant."""
    lower = name.lower()
    if lower.endswith(_BUTANE):
        return False
    return lower.endswith(_IGNITION) or (data.lstrip().startswith(b"{") and not _BUTANE_KEY.search(data))
