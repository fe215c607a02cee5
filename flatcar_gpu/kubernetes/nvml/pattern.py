"""The pattern as data: an init container that copies the library, its volumes, and what the agent's container gets."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any

from flatcar_gpu.forms import Form
from flatcar_gpu.kubernetes.nvml.driver_root import RootMount, driver_root

Tree = dict[str, Any]

INIT_CONTAINER = "copy-nvml"
LIBRARY_VOLUME = "nvml-copy"
ROOT_VOLUME = "nvml-driver-root"

LIBRARY_PATH = "/usr/local/nvidia/lib64"
SEARCH_PATH = "LD_LIBRARY_PATH"
_TARGET = "/nvml-libs"

IMAGE = "busybox:1.36.1"
SIZE_LIMIT = "200Mi"

GPU_TAINT = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
GPU_NODES = {"nvidia.com/gpu.present": "true"}
# Set on GPU nodes by gpu-operator from v26.7.0 on; driver upgrades and MIG changes evict the pods that select it.
CLIENT_NODES = {"nvidia.com/gpu.deploy.client": "true"}

# The container toolkit injects devices for these where it is the default runtime; harmless elsewhere.
DEVICE_VARIABLES = {"NVIDIA_VISIBLE_DEVICES": "all", "NVIDIA_MIG_MONITOR_DEVICES": "all"}

# Namespaces with a LimitRange or a quota want them stated. A copy of one library needs next to nothing.
_RESOURCES = {"requests": {"cpu": "10m", "memory": "16Mi"}, "limits": {"cpu": "500m", "memory": "64Mi"}}

SIZE = Form(r"[1-9]\d*(Ki|Mi|Gi)", "a size such as 200Mi")
LIB_DIR = Form(
    r"(?!(proc|sys|dev)(/|$))(?!\.{1,2}(/|$))[A-Za-z0-9._+-]+(/(?!\.{1,2}(/|$))[A-Za-z0-9._+-]+)*",
    "a folder below the driver root such as lib64, outside proc, sys and dev, without `.`, `..` or a leading `/`",
)
NAME = Form(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?", "a name of Kubernetes: lower-case letters, digits, `-` and `.`")
SELINUX_TYPE = Form(r"[a-z][a-z0-9_]*", "an SELinux type such as spc_t")
PINNED_IMAGE = Form(
    r"(?P<repository>[a-z0-9][a-z0-9.-]*(:\d+(?=/))?(/[a-z0-9._-]+)*)"
    r"(?=[:@])(:(?!latest$)(?P<tag>[A-Za-z0-9_][A-Za-z0-9._-]{0,127}))?(@(?P<digest>sha256:[0-9a-f]{64}))?",
    "an image with a tag other than latest, or with a digest",
)


class Liveness(StrEnum):
    """What becomes of the agent's probes."""

    AUTO = "auto"
    LANDING_PAGE = "landing-page"
    LIVEZ = "livez"
    TIMEOUT = "timeout"
    OFF = "off"
    KEEP = "keep"


class Scheme(StrEnum):
    HTTP = "HTTP"
    HTTPS = "HTTPS"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How an agent gets NVML. The defaults fit the operator's driver container.

    `copies` is off for agents that cannot use the copy and rely on the runtime class; `wait_seconds` is for nodes known
    to have GPUs; `client_label` needs gpu-operator v26.7.0.
    """

    driver_root: str = "container"
    image: str = IMAGE
    size_limit: str = SIZE_LIMIT
    lib_dirs: tuple[str, ...] = ()
    wait_seconds: int = 0
    copies: bool = True
    runtime_class: str | None = None
    gpu_nodes_only: bool = False
    client_label: bool = False
    selinux_type: str | None = None
    liveness: Liveness = Liveness.AUTO
    scheme: Scheme | None = None
    basic_auth: bool = False

    @property
    def node_selector(self) -> dict[str, str]:
        """Labels of the nodes that may run the agent; empty for all nodes."""
        return (GPU_NODES if self.gpu_nodes_only else {}) | (CLIENT_NODES if self.client_label else {})


@cache
def copy_script() -> str:
    """The script of the init container, as it is in every output."""
    return files(__package__).joinpath("copy-nvml.sh").read_text(encoding="ascii")


def init_container(options: Options) -> Tree:
    """The container that copies the library into the emptyDir before the agent starts."""
    root = driver_root(options.driver_root, waits=options.wait_seconds > 0)
    variables = {"NVML_DRIVER_ROOTS": " ".join(root.roots), "NVML_TARGET": _TARGET}
    if options.lib_dirs:
        variables["NVML_LIB_DIRS"] = " ".join(options.lib_dirs)
    if options.wait_seconds:
        variables["NVML_WAIT_SECONDS"] = str(options.wait_seconds)
    root_mounts = [_root_mount(mount) for mount in root.mounts]
    return {
        "name": INIT_CONTAINER,
        "image": options.image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["/bin/sh", "-c"],
        "args": [copy_script()],
        "env": variables_list(variables),
        "resources": {kind: dict(amounts) for kind, amounts in _RESOURCES.items()},
        "securityContext": _security_context(options),
        "volumeMounts": [*root_mounts, {"name": LIBRARY_VOLUME, "mountPath": _TARGET}],
    }


def volumes(options: Options) -> list[Tree]:
    """The driver root, which only the init container mounts, and the emptyDir that takes the library."""
    root = driver_root(options.driver_root, waits=options.wait_seconds > 0)
    return [
        *(
            {"name": _volume_name(mount.name), "hostPath": {"path": mount.host_path, "type": str(mount.type)}}
            for mount in root.mounts
        ),
        {"name": LIBRARY_VOLUME, "emptyDir": {"sizeLimit": options.size_limit}},
    ]


def library_mount() -> Tree:
    """Where the agent's container sees the library."""
    return {"name": LIBRARY_VOLUME, "mountPath": LIBRARY_PATH, "readOnly": True}


def variables_list(variables: dict[str, str]) -> list[Tree]:
    return [{"name": name, "value": value} for name, value in variables.items()]


def is_root_volume(name: object) -> bool:
    """Whether `name` is what this pattern calls a mount of a driver root."""
    return isinstance(name, str) and (name == ROOT_VOLUME or name.startswith(ROOT_VOLUME + "-"))


def _root_mount(mount: RootMount) -> Tree:
    entry = {"name": _volume_name(mount.name), "mountPath": mount.mount_path, "readOnly": True}
    return {**entry, "mountPropagation": "HostToContainer"} if mount.propagates else entry


def _volume_name(name: str) -> str:
    return f"{ROOT_VOLUME}-{name}" if name else ROOT_VOLUME


def _security_context(options: Options) -> Tree:
    # uid 0 without any capability reads what belongs to root, whatever user the image names, and can do nothing else.
    context: Tree = {
        "runAsUser": 0,
        "runAsGroup": 0,
        "runAsNonRoot": False,
        "privileged": False,
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    return {**context, "seLinuxOptions": {"type": options.selinux_type}} if options.selinux_type else context
