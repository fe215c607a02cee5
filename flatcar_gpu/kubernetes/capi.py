"""Nodes for Cluster API: its Ignition bootstrap takes Container Linux Configs, not Butane; and for its image-builder.

Sources: kubernetes-sigs/cluster-api at ae7ff047, api/bootstrap/kubeadm (ContainerLinuxConfig, additionalConfig of 1 to
32768 characters); Flatcar's Container Linux Config Transpiler 0.9.4, which it translates with, to Ignition 2.3.0.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from flatcar_gpu.errors import Failure, InvalidInput
from flatcar_gpu.node.yaml_text import butane_text
from flatcar_gpu.report import Report
from flatcar_gpu.spec import Strategy, Toolkit

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flatcar_gpu.node.parts import Tree
    from flatcar_gpu.plan import Plan

LIMIT = 32_768
"""Characters of additionalConfig."""


class ApiVersion(StrEnum):
    """Versions of the bootstrap API that take an Ignition bootstrap; the fields are the same in both."""

    V1BETA1 = "v1beta1"
    V1BETA2 = "v1beta2"


@dataclass(frozen=True, slots=True)
class _Field:
    """A key of a Butane mapping as a Container Linux Config has it. `item` reads each item of a list."""

    name: str
    item: Mapping[str, _Field] | None = None
    convert: Callable[[Any, str, Report], Any] | None = None
    is_needed: bool = False


def _same(*names: str) -> dict[str, _Field]:
    return {name: _Field(name) for name in names}


def _converted_hash(value: str, path: str, report: Report) -> Tree:
    function, _, digits = value.partition("-")
    if function != "sha512":
        says = f"a Container Linux Config verifies files by sha512 only, not by {function}"
        report.error(says, path=path, hint="take it with sha512sum and give it with --runtime-sysext-hash sha512-HEX")
    return {"function": function, "sum": digits}


def _converted_contents(value: Mapping[str, Any], path: str, report: Report) -> Tree:
    """Contents: what is inline stays so, and what is fetched goes below `remote`, with other names."""
    if "source" in value:
        return {"remote": _mapping(value, _REMOTE, path, report)}
    return _mapping(value, _same("inline"), path, report)


# Every field that a node's config can have, with its name in Container Linux Configs. What is not here is refused:
# without `strict` the transpiler would drop it with a warning that nobody sees, and write files empty.
_REMOTE = {
    "source": _Field("url"),
    "compression": _Field("compression"),
    "verification": _Field("verification", item={"hash": _Field("hash", convert=_converted_hash)}),
}
_MODE = {"mode": _Field("mode", is_needed=True)}
_UNIT = _same("name", "enabled", "mask", "contents") | {"dropins": _Field("dropins", item=_same("name", "contents"))}
_STORAGE = {
    "directories": _Field("directories", item=_same("path", "overwrite") | _MODE),
    "files": _Field(
        "files",
        item=_same("path", "overwrite") | _MODE | {"contents": _Field("contents", convert=_converted_contents)},
    ),
    "links": _Field("links", item=_same("path", "overwrite", "target", "hard")),
}
_CONFIG = {
    "storage": _Field("storage", item=_STORAGE),
    "systemd": _Field("systemd", item={"units": _Field("units", item=_UNIT)}),
}
_HEAD = ("variant", "version")


def container_linux_config(butane: Tree) -> Tree:
    """A Butane tree (variant flatcar) as a Container Linux Config.

    Raises InvalidInput with everything that such a config cannot express.
    """
    report = Report()
    config = _mapping({key: value for key, value in butane.items() if key not in _HEAD}, _CONFIG, "$", report)
    if report.has_errors:
        raise InvalidInput(report)
    return config


def _mapping(tree: Mapping[str, Any], fields: Mapping[str, _Field], path: str, report: Report) -> Tree:
    converted: Tree = {}
    for key, value in tree.items():
        field = fields.get(key)
        if field is None:
            report.error(
                "a Container Linux Config cannot express this: Cluster API would drop it",
                path=f"{path}.{key}",
                hint="bring it into the image, or wait for Ignition 3 in Cluster API (flatcar/Flatcar#942)",
            )
            continue
        converted[field.name] = _value(value, field, f"{path}.{key}", report)
    for key, field in fields.items():
        if field.is_needed and key not in tree:
            report.error(f"a strict Container Linux Config needs a {key} here", path=path)
    return converted


def _value(value: Any, field: _Field, path: str, report: Report) -> Any:
    if field.convert is not None:
        return field.convert(value, path, report)
    if field.item is None:
        return value
    if isinstance(value, list):
        return [_mapping(item, field.item, f"{path}.{index}", report) for index, item in enumerate(value)]
    return _mapping(value, field.item, path, report)


def additional_config(butane: Tree) -> str:
    """Text for `additionalConfig`. Raises InvalidInput where it cannot be expressed, or is too long."""
    text = butane_text(container_linux_config(butane)).decode()
    if len(text) > LIMIT:
        report = Report()
        says = f"the config has {len(text):,} characters, and additionalConfig takes {LIMIT:,}"
        report.error(says, hint="load fewer modules, or bring files into the image")
        raise InvalidInput(report)
    return text


def template_patch(butane: Tree, name: str, api_version: ApiVersion) -> bytes:
    """A patch for the KubeadmConfigTemplate `name`: the Ignition bootstrap and the node, nothing of kubeadm's own."""
    bootstrap = {
        "format": "ignition",
        "ignition": {"containerLinuxConfig": {"strict": True, "additionalConfig": additional_config(butane)}},
    }
    resource = {
        "apiVersion": f"bootstrap.cluster.x-k8s.io/{api_version}",
        "kind": "KubeadmConfigTemplate",
        "metadata": {"name": name},
        "spec": {"template": {"spec": bootstrap}},
    }
    comment = (
        "Cluster API takes this only with its feature gate KubeadmBootstrapFormatIgnition, which is off by default.\n"
        "With Cluster API for AWS the config goes through S3 unless storageType is UnencryptedUserData (16 KB)."
    )
    return butane_text(resource, comment)


def image_builder_variables(plan: Plan, report: Report) -> bytes:
    """Variables for image-builder's Packer (JSON): its Ansible role `gpu` puts both extensions into the image.

    What the role leaves out is added to `report`. Raises Failure where Flatcar brings not both driver and toolkit.
    Source: kubernetes-sigs/image-builder at ae63061ef, images/capi/ansible/roles/gpu (Flatcar since 2026-06, #1986).
    """
    if plan.strategy is not Strategy.SYSEXT or plan.toolkit is not Toolkit.SYSEXT or plan.runtime_sysext is None:
        raise Failure(
            "image-builder's role gpu installs Flatcar's driver and runtime extensions, and nothing else",
            hint="use --driver sysext with --toolkit sysext, or --format patch for what comes at boot",
        )
    variables = {
        "gpu_flatcar_nvidia_sysext_name": plan.driver_sysext,
        "gpu_flatcar_nvidia_runtime_url": plan.runtime_sysext.url,
    }
    for left_out, setting in (
        ("a checksum of the runtime extension", plan.runtime_sysext.hash and "--runtime-sysext-hash"),
        ("kernel modules", plan.spec.modules and "--modules"),
        ("held updates", plan.holds_updates and "--hold-updates"),
    ):
        if setting:
            report.warning(f"image-builder's role gpu knows nothing of {left_out}", path=setting)
    words = " ".join(f"{name}={value}" for name, value in variables.items())
    return json.dumps({"node_custom_roles_pre": "gpu", "ansible_user_vars": words}, indent=2).encode() + b"\n"
