"""Nodes as `kubectl get nodes -o json` lists them: which have a GPU, and what the GPU operator goes by."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from flatcar_gpu.errors import Failure
from flatcar_gpu.flatcar.os_release import version_of_os_image
from flatcar_gpu.flatcar.version import is_version
from flatcar_gpu.images.audit import NodeGroup
from flatcar_gpu.kubernetes.json_stream import items
from flatcar_gpu.report import STDIN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import BinaryIO

_NFD = "feature.node.kubernetes.io/"
OS_ID_LABEL = f"{_NFD}system-os_release.ID"
VERSION_ID_LABEL = f"{_NFD}system-os_release.VERSION_ID"
KERNEL_LABEL = f"{_NFD}kernel-version.full"

GPU_LABELS = (
    "nvidia.com/gpu.present",
    f"{_NFD}pci-10de.present",
    f"{_NFD}pci-0300_10de.present",
    f"{_NFD}pci-0302_10de.present",
)
"""Any of them being "true" marks a GPU node; the first is set by the operator because of the others, 10de being
NVIDIA's PCI vendor number. Source: gpu-operator controllers/state_manager.go."""

GPU_RESOURCE = "nvidia.com/gpu"


@dataclass(frozen=True, slots=True)
class Node:
    """What a node's labels and status say. `os_id`, `version_id` and `kernel_label` are empty without labels.

    `release` is the Flatcar version in the status, None on other systems; `kernel` is as `uname -r` prints it.
    """

    name: str
    os_id: str
    version_id: str
    kernel_label: str
    release: str | None
    os_image: str
    kernel: str
    architecture: str
    has_gpu: bool

    @property
    def is_labelled(self) -> bool:
        """Whether the labels are there that the operator makes the end of the tag of."""
        return bool(self.os_id and self.version_id)

    @property
    def runs_flatcar(self) -> bool:
        return self.release is not None or self.os_id == "flatcar"


def read_nodes(path: str) -> Iterator[Node]:
    """The nodes in a file, `-` being stdin. Raises Failure where it cannot be read or is no list of nodes."""
    try:
        with nullcontext(sys.stdin.buffer) if path == "-" else Path(path).open("rb") as stream:
            yield from nodes_in(stream, STDIN if path == "-" else path)
    except OSError as error:
        raise Failure(f"cannot read {path}: {error.strerror}") from None


def nodes_of_cluster(context: str | None = None) -> Iterator[Node]:
    """The nodes that kubectl lists. Raises Failure, with what kubectl says, where it fails."""
    chosen = ["--context", context] if context else []
    with _output(["kubectl", *chosen, "get", "nodes", "--output", "json"]) as stream:
        yield from nodes_in(stream, "kubectl")


def nodes_in(stream: BinaryIO, name: str) -> Iterator[Node]:
    """The nodes in an open stream, called `name` in errors. Raises Failure where it has something else."""
    hint = "`kubectl get nodes -o json` lists nodes"
    for number, item in enumerate(items(stream, name), start=1):
        if not isinstance(item, dict):
            raise Failure(f"{name}: item {number} is not an object", hint)
        if item.get("kind", "Node") != "Node":
            raise Failure(f"{name}: item {number} is not a node but a {item['kind']}", hint)
        yield _node(item, f"{name}: item {number}")


@contextmanager
def _output(command: Sequence[str]) -> Iterator[BinaryIO]:
    """What a command prints, while it runs. Raises Failure where it fails, with the end of what it says."""
    with tempfile.TemporaryFile() as said:
        try:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=said)
        except OSError as error:
            raise Failure(f"{command[0]} cannot be run: {error.strerror}", "give the list as a file") from None
        with process:
            stream = cast("BinaryIO", process.stdout)
            try:
                yield stream
            except Failure:
                # What kubectl itself says explains an empty or cut-off list better.
                if process.wait() == 0:
                    raise
            except BaseException:
                process.kill()
                raise
            if process.wait():
                said.seek(0)
                says = said.read()[-2000:].decode(errors="replace").strip() or f"exit code {process.returncode}"
                raise Failure(f"{' '.join(command)} failed: {says}")


def _node(item: Mapping[str, Any], where: str) -> Node:
    metadata, status = _object(item, "metadata", where), _object(item, "status", where)
    labels = _object(metadata, "labels", where)
    info = _object(status, "nodeInfo", where)
    capacity = _object(status, "capacity", where)
    os_image = str(info.get("osImage", ""))
    return Node(
        name=str(metadata.get("name", "")),
        os_id=str(labels.get(OS_ID_LABEL, "")),
        version_id=str(labels.get(VERSION_ID_LABEL, "")),
        kernel_label=str(labels.get(KERNEL_LABEL, "")),
        release=_release(os_image),
        os_image=os_image,
        kernel=str(info.get("kernelVersion", "")),
        architecture=str(info.get("architecture", "")),
        has_gpu=any(labels.get(label) == "true" for label in GPU_LABELS) or capacity.get(GPU_RESOURCE, "0") != "0",
    )


def _object(parent: Mapping[str, Any], key: str, where: str) -> Mapping[str, Any]:
    value = parent.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Failure(f"{where} is not a node: {key} is not an object", "`kubectl get nodes -o json` lists nodes")
    return value


def _release(os_image: str) -> str | None:
    if not os_image.startswith("Flatcar"):
        return None
    try:
        return str(version_of_os_image(os_image))
    except Failure:
        return None


@dataclass(frozen=True, slots=True)
class Survey:
    """The GPU nodes of a cluster in groups of alike ones, by release, kernel and architecture.

    `first` is the group of the GPU node that is listed first, whether it runs Flatcar or not. `others` counts GPU
    nodes on other systems by their name in the status.
    """

    total: int
    groups: tuple[NodeGroup, ...]
    first: NodeGroup | None
    others: Mapping[str, int]
    flatcar_without_gpu: int

    @property
    def gpu_nodes(self) -> int:
        return sum(group.nodes for group in self.groups)


def survey(nodes: Iterable[Node], *, all_nodes: bool = False) -> Survey:
    """Nodes in groups; with `all_nodes` every Flatcar node is taken for a GPU node."""
    counts: Counter[NodeGroup] = Counter()
    examples: dict[NodeGroup, str] = {}
    others: Counter[str] = Counter()
    first = None
    total = without = 0
    for node in nodes:
        total += 1
        if not (node.has_gpu or (all_nodes and node.runs_flatcar)):
            without += node.runs_flatcar
            continue
        group = NodeGroup(
            node.os_id,
            node.version_id,
            node.release or (node.version_id if node.os_id == "flatcar" else ""),
            node.kernel_label or node.kernel.partition(" ")[0],
            node.architecture,
        )
        first = first or group
        if node.runs_flatcar:
            counts[group] += 1
            examples.setdefault(group, node.name)
        else:
            others[node.os_image or "a system without a name"] += 1
    groups = (replace(group, nodes=count, example=examples[group]) for group, count in counts.items())
    return Survey(total, tuple(sorted(groups, key=_by_release)), first, others, without)


def _by_release(group: NodeGroup) -> tuple[tuple[int, ...], str, str, str]:
    release = tuple(map(int, group.release.split("."))) if is_version(group.release) else ()
    return release, group.version_id, group.kernel, group.architecture
