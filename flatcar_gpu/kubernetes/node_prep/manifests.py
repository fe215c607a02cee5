"""The Kubernetes objects that run prepare-node.sh on GPU nodes."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flatcar_gpu.helm.operator_values import GPU_TAINT, toleration_trees
from flatcar_gpu.kubernetes.node_prep.source import script, source_folder
from flatcar_gpu.kubernetes.nodes import GPU_LABELS, OS_ID_LABEL
from flatcar_gpu.kubernetes.nvml.namespace import LABELS
from flatcar_gpu.kubernetes.nvml.pattern import IMAGE
from flatcar_gpu.kubernetes.nvml.yaml_edit import block_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flatcar_gpu.node.parts import Tree
    from flatcar_gpu.plan import Toleration

NAME = "flatcar-gpu-node-prep"
NAMESPACE = "flatcar-gpu"

SCRIPT = "prepare-node.sh"
_APP_LABELS = {"app.kubernetes.io/name": NAME}

# Enough for the shell and for one file at a time; no CPU limit, which would only make it slower.
_RESOURCES = {"requests": {"cpu": "10m", "memory": "16Mi"}, "limits": {"memory": "64Mi"}}

# chroot, loading modules, and writing to the node's own folders; nothing less will do.
_PREPARES = {"privileged": True, "runAsUser": 0, "runAsNonRoot": False, "readOnlyRootFilesystem": True}
_WAITS = {
    "runAsUser": 65534,
    "runAsNonRoot": True,
    "allowPrivilegeEscalation": False,
    "readOnlyRootFilesystem": True,
    "capabilities": {"drop": ["ALL"]},
    "seccompProfile": {"type": "RuntimeDefault"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Where and with what the script runs. Without `node_selector` Node Feature Discovery's labels choose the nodes."""

    namespace: str = NAMESPACE
    image: str = IMAGE
    node_selector: Mapping[str, str] | None = None
    tolerations: tuple[Toleration, ...] = ()


def apply_manifests(butane: Tree, options: Options) -> list[Tree]:
    """What brings running nodes to the state of `butane`, a tree that `flatcar_gpu.node.build` made."""
    files = {SCRIPT: script(), **source_folder(butane)}
    return _manifests(files, ["apply", "/host", "/source"], options)


def remove_manifests(options: Options) -> list[Tree]:
    """What takes it back; the objects replace those of `apply_manifests`, for they have the same names."""
    return _manifests({SCRIPT: script()}, ["remove", "/host"], options)


def manifests_text(manifests: list[Tree], comment: str) -> bytes:
    """`manifests` as one YAML stream below `comment` (text, without the `#`)."""
    head = "".join(f"# {line}".rstrip() + "\n" for line in comment.splitlines())
    return (head + "---\n".join(block_text(manifest) for manifest in manifests)).encode()


def _manifests(files: Mapping[str, str], arguments: list[str], options: Options) -> list[Tree]:
    metadata = {"name": NAME, "namespace": options.namespace, "labels": _APP_LABELS}
    namespace = {"name": options.namespace, "labels": LABELS}
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": namespace},
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": metadata,
            "data": {_key(path): text for path, text in files.items()},
        },
        {
            "apiVersion": "apps/v1",
            "kind": "DaemonSet",
            "metadata": metadata,
            "spec": {
                "selector": {"matchLabels": _APP_LABELS},
                # A change restarts containerd: one node after the other.
                "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}},
                "template": {
                    # Pods start anew when what they install changes.
                    "metadata": {"labels": _APP_LABELS, "annotations": {f"{NAME}/source": _hash(files)}},
                    "spec": _pod(files, arguments, options),
                },
            },
        },
    ]


def _pod(files: Mapping[str, str], arguments: list[str], options: Options) -> Tree:
    items = [{"key": _key(path), "path": path} for path in files]
    return {
        "automountServiceAccountToken": False,
        # systemctl talks to process 1 and refuses a peer that it cannot see ("Failed to connect to bus").
        "hostPID": True,
        "enableServiceLinks": False,
        "priorityClassName": "system-node-critical",
        # Nothing to wait for: the container that stays only sleeps.
        "terminationGracePeriodSeconds": 1,
        **_node_choice(options),
        "tolerations": toleration_trees(tuple(dict.fromkeys((GPU_TAINT, *options.tolerations)))),
        "initContainers": [
            {
                **_container("prepare", options),
                "command": ["/bin/sh", f"/source/{SCRIPT}", *arguments],
                "securityContext": _PREPARES,
                "volumeMounts": [
                    # The overlay that the node's systemd mounts must be seen here, to check it.
                    {"name": "host", "mountPath": "/host", "mountPropagation": "HostToContainer"},
                    {"name": "source", "mountPath": "/source", "readOnly": True},
                ],
            }
        ],
        "containers": [{**_container("pause", options), "command": ["sleep", "2147483647"], "securityContext": _WAITS}],
        "volumes": [
            {"name": "host", "hostPath": {"path": "/", "type": "Directory"}},
            {"name": "source", "configMap": {"name": NAME, "items": items}},
        ],
    }


def _container(name: str, options: Options) -> Tree:
    return {"name": name, "image": options.image, "imagePullPolicy": "IfNotPresent", "resources": _RESOURCES}


def _node_choice(options: Options) -> Tree:
    """Flatcar nodes with a GPU, by Node Feature Discovery's labels, unless the user chooses.

    Source: controllers/state_manager.go of gpu-operator, which takes the same labels for a GPU.
    """
    if options.node_selector is not None:
        return {"nodeSelector": dict(options.node_selector)}
    is_flatcar = {"key": OS_ID_LABEL, "operator": "In", "values": ["flatcar"]}
    terms: list[dict[str, Any]] = [
        {"matchExpressions": [is_flatcar, {"key": label, "operator": "In", "values": ["true"]}]} for label in GPU_LABELS
    ]
    return {
        "affinity": {
            "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}},
        }
    }


def _key(path: str) -> str:
    """The key of a file in the ConfigMap, which takes no slashes; the volume puts them back."""
    return path.replace("/", ".")


def _hash(files: Mapping[str, str]) -> str:
    return hashlib.sha256(json.dumps(files).encode()).hexdigest()[:16]
