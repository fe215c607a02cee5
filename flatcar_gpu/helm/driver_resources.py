"""NVIDIADriver resources: one a pool of nodes, so that pools on different releases can have different drivers."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from flatcar_gpu.helm.operator_values import GPU_TAINT, image_entries, toleration_trees
from flatcar_gpu.helm.yaml_text import Entry, entries_text
from flatcar_gpu.report import Problem, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from flatcar_gpu.plan import DriverImage, Toleration

# The operator sets it on every node with an NVIDIA GPU. Source: gpu-operator controllers/state_manager.go.
GPU_LABELS = {"nvidia.com/gpu.present": "true"}

# Written by Node Feature Discovery from the node's os-release; the operator itself tells releases apart by it.
RELEASE_LABEL = "feature.node.kubernetes.io/system-os_release.VERSION_ID"


@dataclass(frozen=True, slots=True)
class DriverPool:
    """Nodes that share a driver: their labels, and the release where it is certain (a VERSION_ID, no channel)."""

    name: str
    image: DriverImage
    labels: Mapping[str, str] = field(default_factory=dict)
    release: str | None = None
    tolerations: tuple[Toleration, ...] = ()

    @property
    def node_selector(self) -> dict[str, str]:
        """Labels that select the pool's nodes and no others.

        The release is among them where the image fits it alone (a digest), or where nothing else tells the pool apart.
        """
        selector = dict(self.labels)
        if self.release is not None and (self.image.digest or not selector):
            selector[RELEASE_LABEL] = self.release
        return selector or dict(GPU_LABELS)


def driver_resources(pools: Iterable[DriverPool]) -> list[tuple[Entry, ...]]:
    """The resource of each pool, in order of the pools."""
    return [tuple(_resource(pool)) for pool in pools]


def resources_text(pools: Iterable[DriverPool], comment: str = "") -> bytes:
    """The resources as YAML documents, below `comment`."""
    head, *others = [entries_text(resource) for resource in driver_resources(pools)] or [b""]
    return entries_text((), comment) + b"---\n".join((head, *others))


def _resource(pool: DriverPool) -> Iterator[Entry]:
    yield Entry("apiVersion", "nvidia.com/v1alpha1")
    yield Entry("kind", "NVIDIADriver")
    yield Entry("metadata.name", pool.name)
    yield Entry("spec.driverType", "gpu")
    for entry in image_entries(pool.image):
        yield Entry(f"spec.{entry.key}", entry.value, entry.why, entry.setting)
    yield Entry("spec.nodeSelector", pool.node_selector)
    ours = tuple(taint for taint in pool.tolerations if taint != GPU_TAINT)
    yield Entry("spec.tolerations", toleration_trees((GPU_TAINT, *ours)))


def conflicts(pools: Iterable[DriverPool]) -> Iterator[Problem]:
    """Pools of one name, and pools that may select the same node: the operator then gives it no driver.

    Two selectors are apart only where a label that both name differs. Pools are compared by the labels they name, so
    that thousands of pools with the same labels cost one look-up each.
    """
    names: set[str] = set()
    by_labels: dict[frozenset[str], list[DriverPool]] = defaultdict(list)
    for pool in pools:
        if pool.name in names:
            yield Problem(Severity.ERROR, f"two pools have the name {pool.name}", path=pool.name)
        names.add(pool.name)
        by_labels[frozenset(pool.node_selector)].append(pool)
    kinds = list(by_labels)
    for index, labels in enumerate(kinds):
        for other in kinds[index:]:
            yield from _overlaps(by_labels[labels], by_labels[other], labels & other)


def _overlaps(pools: list[DriverPool], others: list[DriverPool], shared: Iterable[str]) -> Iterator[Problem]:
    common = sorted(shared)
    seen: dict[tuple[str, ...], DriverPool] = {}
    for pool in pools:
        found = seen.setdefault(tuple(pool.node_selector[label] for label in common), pool)
        if others is pools and found is not pool:
            yield _overlap(found, pool)
    if others is pools:
        return
    for pool in others:
        first = seen.get(tuple(pool.node_selector[label] for label in common))
        if first is not None:
            yield _overlap(first, pool)


def _overlap(pool: DriverPool, other: DriverPool) -> Problem:
    return Problem(
        Severity.ERROR,
        f"the pools {pool.name} and {other.name} may select the same node",
        path=other.name,
        hint="give the nodes of both a label that tells them apart",
    )
