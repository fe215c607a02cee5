"""The end of a driver tag, which the operator makes of a node's os-release, and how charts differ in it."""

from __future__ import annotations

from dataclasses import dataclass

from flatcar_gpu.chart import ChartVersion
from flatcar_gpu.errors import Failure

LABELS_REQUIRED_SINCE = ChartVersion(26, 3, 0)
"""Earlier operators go on without the labels and ask for a tag that ends in `-`. Source: gpu-operator
controllers/state_manager.go, getGPUNodeOSInfo; NVIDIA/gpu-operator#458."""


def chart_version(text: str) -> ChartVersion:
    """`v25.10.1`, `25.10.1`, or as `helm list` prints it `gpu-operator-v25.10.1`. Raises Failure for anything else."""
    try:
        return ChartVersion.parse(text.removeprefix("gpu-operator-"))
    except ValueError:
        hint = "a version is like v26.7.0"
        raise Failure(f"{text!r} is not a version of the gpu-operator chart", hint) from None


@dataclass(frozen=True, slots=True)
class MajorOnly:
    """Operating systems of which charts `since` (to before `until`) take only the major number of VERSION_ID."""

    ids: frozenset[str]
    since: ChartVersion
    until: ChartVersion | None = None
    from_major: int = 0


# Source: gpu-operator controllers/state_manager.go getGPUNodeOSInfo and internal/state/nodepool.go getOSTag, each tag.
# Flatcar is in none: its VERSION_ID is kept whole by every chart.
MAJOR_ONLY = (
    MajorOnly(frozenset({"rocky"}), ChartVersion(26, 3, 0), ChartVersion(26, 7, 0)),
    MajorOnly(frozenset({"rhel"}), ChartVersion(26, 3, 0), ChartVersion(26, 7, 0), from_major=10),
    MajorOnly(frozenset({"ol", "rocky", "rhel"}), ChartVersion(26, 7, 0)),
)


def os_tag(os_id: str, version_id: str, chart: str) -> str:
    """What the operator of that chart makes of ID and VERSION_ID: `flatcar2905.2.0`.

    Both empty, as where node-feature-discovery has set no labels, give an empty tag up to chart v25.10 and a Failure
    from v26.3.0 on.
    """
    version = chart_version(chart)
    if not (os_id and version_id) and version >= LABELS_REQUIRED_SINCE:
        raise Failure(
            "the operator stops with an error where a GPU node has no labels system-os_release.ID and .VERSION_ID",
            hint="let node-feature-discovery run on every GPU node: its worker must tolerate their taints",
        )
    major = version_id.partition(".")[0]
    for rule in MAJOR_ONLY:
        if (
            os_id in rule.ids
            and rule.since <= version
            and (rule.until is None or version < rule.until)
            and major.isdecimal()
            and int(major) >= rule.from_major
        ):
            return os_id + major
    return os_id + version_id
