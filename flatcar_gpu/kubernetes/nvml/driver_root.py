"""Where NVIDIA's management library is on a node, and what the init container mounts to reach it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath

from flatcar_gpu.forms import PATH
from flatcar_gpu.spec import Strategy

MOUNT = "/run-nvidia"

AUTO = "auto"


class HostPathType(StrEnum):
    """What the kubelet makes sure of before it mounts. Kubernetes API, HostPathVolumeSource."""

    DIRECTORY = "Directory"
    DIRECTORY_OR_CREATE = "DirectoryOrCreate"


@dataclass(frozen=True, slots=True)
class Layout:
    """One way a driver lies on a host.

    `host_path` is what has to be mounted, `below` its place below the driver root: where the root is the host's own
    `/`, only the folder with the libraries is mounted.
    """

    host_path: str
    below: str
    type: HostPathType
    source: str


LAYOUTS = {
    "container": Layout(
        "/run/nvidia/driver",
        "",
        HostPathType.DIRECTORY_OR_CREATE,
        source="gpu-driver-container: nvidia-driver mounts its root there; created on nodes without a GPU, which must "
        "still be able to start the pod",
    ),
    "service": Layout(
        "/opt/nvidia/current",
        "",
        HostPathType.DIRECTORY_OR_CREATE,
        source="Flatcar's setup-nvidia: a link to the build; it replaces a folder that the kubelet made there",
    ),
    "sysext": Layout(
        "/usr/lib64",
        "/usr/lib64",
        HostPathType.DIRECTORY,
        source="Flatcar's nvidia-drivers extensions install into /usr/lib64; /usr is read-only, nothing can be created",
    ),
}

CHOICES = (AUTO, *LAYOUTS)

_BY_STRATEGY = {
    Strategy.CONTAINER: "container",
    Strategy.SYSEXT: "sysext",
    Strategy.SERVICE: "service",
    # Somebody else brings the driver, if anybody does: look everywhere.
    Strategy.NONE: AUTO,
}


@dataclass(frozen=True, slots=True)
class RootMount:
    """A folder of the host in the init container. `name` is empty, or tells several mounts apart."""

    name: str
    host_path: str
    type: HostPathType
    mount_path: str
    propagates: bool


@dataclass(frozen=True, slots=True)
class DriverRoot:
    """What to mount, and the driver roots to look in, as the init container sees them: the first that has it."""

    mounts: tuple[RootMount, ...]
    roots: tuple[str, ...]


def driver_root_of(strategy: Strategy) -> str:
    """The value of --driver-root for nodes whose driver comes by `strategy`."""
    return _BY_STRATEGY[strategy]


def is_driver_root(text: str) -> bool:
    """Whether `text` is a name of a layout or a path that can be mounted."""
    return text in CHOICES or PATH.fits(text)


def host_path_of(name: str) -> str | None:
    """The driver root on the host that `name` stands for; None where it depends on the node."""
    if name == AUTO:
        return None
    layout = LAYOUTS.get(name)
    if layout is None:
        return name
    return layout.host_path.removesuffix(layout.below) or "/"


def driver_root(name: str, *, waits: bool) -> DriverRoot:
    """Mounts and roots for `name`: a layout, `auto` for all of them in turn, or a path.

    Who waits for a driver mounts the folder above its root: a mount made later on the root itself would not be seen
    through an older mount of it, and a root that is a link would keep its first target.
    """
    if name == AUTO:
        found = [_mounted(layout, key, f"{MOUNT}/{key}", waits) for key, layout in LAYOUTS.items()]
    else:
        layout = LAYOUTS.get(name) or Layout(name, "", HostPathType.DIRECTORY_OR_CREATE, source="given by the user")
        found = [_mounted(layout, "", MOUNT, waits)]
    return DriverRoot(tuple(mount for mount, _ in found), tuple(root for _, root in found))


def _mounted(layout: Layout, name: str, at: str, waits: bool) -> tuple[RootMount, str]:
    parent = str(PurePosixPath(layout.host_path).parent)
    # An extension is merged before the kubelet starts: there is no mount to wait for. And nobody needs all of `/`.
    if not waits or layout.below or parent == "/":
        return RootMount(name, layout.host_path, layout.type, at + layout.below, waits and not layout.below), at
    root = f"{at}/{PurePosixPath(layout.host_path).name}"
    return RootMount(name, parent, layout.type, at, propagates=True), root
