"""Lookups as findings: what the user is told of images that nodes cannot pull."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from flatcar_gpu.images.lookup import State
from flatcar_gpu.report import Report

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flatcar_gpu.images.lookup import Lookup

BUILD = "`flatcar-gpu image build` writes all it takes to build one for a registry of your own"


def findings(lookups: Iterable[Lookup]) -> Report:
    """An error for each image that is not there; one for all those of which the same is said."""
    lookups = [lookup for lookup in dict.fromkeys(lookups) if lookup.state is not State.PRESENT]
    counts = Counter((lookup.message, _hint(lookup)) for lookup in lookups)
    report = Report()
    for (message, hint), count in counts.items():
        report.error(f"{message} ({count} images)" if count > 1 else message, hint=hint)
    return report


def _hint(lookup: Lookup) -> str:
    if lookup.state is State.MISSING:
        return f"{lookup.hint}; {BUILD}" if lookup.hint else BUILD
    return lookup.hint
