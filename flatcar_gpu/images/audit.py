"""Which image each group of nodes will pull, in either mode of the operator, and what does not come out well."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from flatcar_gpu.errors import Failure
from flatcar_gpu.images.os_tag import LABELS_REQUIRED_SINCE, chart_version
from flatcar_gpu.images.tags import DriverImage, Mode, driver_image

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from flatcar_gpu.images.reference import Reference
    from flatcar_gpu.images.tags import Driver

USE_NVIDIA_DRIVER = "use NVIDIADriver resources (driver.nvidiaDriverCRD.enabled): they give each release its own image"


@dataclass(frozen=True, slots=True)
class NodeGroup:
    """GPU nodes that are alike in all that the image depends on.

    `os_id` and `version_id` are what the nodes' labels say (empty without labels) and what the operator goes by;
    `release` is what the nodes run by their status. `example` is the name of the first of them.
    """

    os_id: str
    version_id: str
    release: str
    kernel: str
    architecture: str
    nodes: int = 0
    example: str = ""

    @property
    def is_labelled(self) -> bool:
        return bool(self.os_id and self.version_id)

    @property
    def has_own_version(self) -> bool:
        """Whether the label says the release; a custom rule of node-feature-discovery can replace it."""
        return self.version_id == self.release


@dataclass(frozen=True, slots=True)
class Pull:
    """What the nodes of a group pull in a mode.

    `image` is None where the operator gives them none; `problem` and `hint` then say why. `made_for` is the release
    in the tag where it is not the group's own.
    """

    group: NodeGroup
    mode: Mode
    image: DriverImage | None
    made_for: str = ""
    problem: str = ""
    hint: str = ""

    @property
    def reference(self) -> Reference | None:
        return self.image.reference if self.image else None


def pulls(driver: Driver, mode: Mode, groups: Sequence[NodeGroup], first: NodeGroup) -> list[Pull]:
    """A pull for each group. `first` is the group of the GPU node that the operator lists first, on whatever system.

    With ClusterPolicy the end of every tag is made of that one node's labels: kernelFullVersion() up to chart v25.10
    takes the first GPU node, getGPUNodeOSInfo() since v26.3 lists with a limit of one.
    Raises Failure where the mode and what is told of the driver do not go together for any node.
    """
    driver = replace(driver, mode=mode)
    if mode is Mode.NVIDIA_DRIVER:
        return [_own_pull(driver, group) for group in groups]
    if shared := _shared_kernels(groups) if driver.precompiled else "":
        return [Pull(group, mode, None, problem=shared, hint=USE_NVIDIA_DRIVER) for group in groups]
    return [_common_pull(driver, group, first) for group in groups]


def _own_pull(driver: Driver, group: NodeGroup) -> Pull:
    if not group.is_labelled:
        return Pull(
            group,
            driver.mode,
            None,
            problem="the operator passes over nodes without the labels system-os_release.ID and .VERSION_ID",
            hint="let node-feature-discovery run on every GPU node: its worker must tolerate their taints",
        )
    return Pull(group, driver.mode, driver_image(driver, group.os_id, group.version_id, group.kernel))


def _common_pull(driver: Driver, group: NodeGroup, first: NodeGroup) -> Pull:
    try:
        image = driver_image(driver, first.os_id, first.version_id, group.kernel)
    except Failure as failure:
        if first.is_labelled or chart_version(driver.chart) < LABELS_REQUIRED_SINCE:
            raise
        return Pull(group, driver.mode, None, problem=failure.message, hint=failure.hint)
    alike = (first.os_id, first.version_id) == (group.os_id, group.version_id)
    made_for = f"{first.os_id} {first.version_id}".strip() or "no release"
    # A pinned image is the same for all nodes because the user says so.
    return Pull(group, driver.mode, image, "" if alike or image.reference.digest else made_for)


def _shared_kernels(groups: Sequence[NodeGroup]) -> str:
    """Why precompiled images with ClusterPolicy fail: an operator that finds two systems on one kernel stops.

    Source: gpu-operator controllers/object_controls.go, getKernelVersionsMap.
    """
    versions: defaultdict[str, set[str]] = defaultdict(set)
    for group in groups:
        versions[group.kernel].add(f"{group.os_id}{group.version_id}")
    for kernel, found in versions.items():
        if len(found) > 1:
            return (
                f"the operator stops where two releases have one kernel: {', '.join(sorted(found))} all have {kernel}"
            )
    return ""


@dataclass(frozen=True, slots=True)
class Successor:
    """The release that a group's channel brings next, and the image that its nodes will pull then."""

    group: NodeGroup
    release: str
    kernel: str | None
    image: DriverImage


def successors(
    driver: Driver, groups: Sequence[NodeGroup], following: Mapping[str, tuple[str, str | None]]
) -> Iterator[Successor]:
    """What changes for each group whose release is in `following`: the next release and its kernel.

    Where labels do not say the release, what replaced them is taken to stay.
    """
    for group in groups:
        if group.release in following:
            release, kernel = following[group.release]
            version_id = release if group.has_own_version or not group.is_labelled else group.version_id
            yield Successor(group, release, kernel, driver_image(driver, group.os_id or "flatcar", version_id, kernel))
