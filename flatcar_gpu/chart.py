"""Versions of the gpu-operator Helm chart, and what the operator of each does where Flatcar feels it.

Which keys a chart has is in `helm/data/keys.yaml`; here is what no key shows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class ChartVersion:
    """A release of the chart; `str()` is the published name, `v25.10.1`."""

    major: int
    minor: int
    patch: int

    @classmethod
    def parse(cls, text: str) -> ChartVersion:
        """`v25.10.1` or `25.10.1`. Raises ValueError for anything else."""
        found = re.fullmatch(r"v?(\d+)\.(\d+)\.(\d+)", text)
        if found is None:
            raise ValueError(f"{text!r} is not a version of the chart")
        return cls(*map(int, found.groups()))

    def __str__(self) -> str:
        return f"v{self.major}.{self.minor}.{self.patch}"

    @property
    def line(self) -> tuple[int, int]:
        """`v25.10.1` is of the line (25, 10)."""
        return self.major, self.minor


# Source: git tags of NVIDIA/gpu-operator at a22dbf671 (2026-08-21), from the first chart that manages the toolkit.
LINES = (
    *((1, minor) for minor in range(7, 12)),
    *((22, 9), (23, 3), (23, 6), (23, 9), (24, 3), (24, 6), (24, 9), (25, 3), (25, 10), (26, 3), (26, 7)),
)
NEWEST = ChartVersion(26, 7, 0)


@dataclass(frozen=True, slots=True)
class Behaviour:
    """Something that the operator does from one chart on, up to but not including another."""

    since: ChartVersion
    source: str
    until: ChartVersion | None = None

    def holds(self, chart: ChartVersion) -> bool:
        return self.since <= chart and (self.until is None or chart < self.until)


RUNTIME_IS_DETECTED = Behaviour(
    ChartVersion(1, 9, 0),
    source="gpu-operator documentation: operator.defaultRuntime is deprecated since v1.9",
)
VALIDATOR_LOADS_MODULES = Behaviour(
    ChartVersion(23, 6, 0),
    until=ChartVersion(24, 6, 0),
    source="gpu-operator cmd/nvidia-validator at these tags; NVIDIA/gpu-operator#567",
)
VALIDATOR_LOADS_HOST_MODULES = Behaviour(
    ChartVersion(24, 6, 0),
    until=ChartVersion(26, 3, 0),
    source="gpu-operator cmd/nvidia-validator at these tags; NVIDIA/gpu-operator#671",
)
VALIDATOR_LOOKS_IN_OPT_BIN = Behaviour(
    ChartVersion(26, 7, 0),
    source="gpu-operator 73defbda, PR #2611",
)
TOOLKIT_DUMPS_CONTAINERD_CONFIG = Behaviour(
    ChartVersion(24, 9, 0),
    source="nvidia-container-toolkit 1.17, the default of chart v24.9.0",
)
TOOLKIT_WRITES_DROP_IN = Behaviour(
    ChartVersion(25, 10, 0),
    source="gpu-operator v25.10.0 with nvidia-container-toolkit 1.18.0",
)
CDI_IS_DEFAULT = Behaviour(
    ChartVersion(25, 10, 0),
    source="values.yaml over all tags, cdi.enabled",
)
