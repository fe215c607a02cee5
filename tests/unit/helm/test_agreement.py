"""The guarantee that node and values agree, over every combination of what can be asked for that is accepted.

What a node has is read from its Butane config, what the operator does from the text of its values, by the facts of
each, not by the code that made them.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fnmatch import fnmatch
from typing import Any

import pytest
import yaml

from flatcar_gpu.chart import ChartVersion
from flatcar_gpu.helm.driver_resources import DriverPool, resources_text
from flatcar_gpu.helm.operator_values import operator_values
from flatcar_gpu.helm.values import Values
from flatcar_gpu.helm.yaml_text import entries_text
from flatcar_gpu.node import build
from flatcar_gpu.plan import Plan, resolve
from flatcar_gpu.rules.checks import check_operator
from flatcar_gpu.settings import with_values
from flatcar_gpu.spec import Spec, Strategy, Toolkit, UsrLocal

REPOSITORY = "registry.example.com/nvidia"
DIGEST = "sha256:" + "0123456789abcdef" * 4

CHARTS = ("v1.8.2", "v1.11.1", "v22.9.2", "v23.9.0", "v24.3.0", "v24.9.2", "v25.3.4", "v25.10.1", "v26.3.0", "v26.7.0")
IMAGES: tuple[dict[str, Any], ...] = (
    {},
    {"driver.repository": REPOSITORY, "driver.version": "570.195.03"},
    {"driver.repository": REPOSITORY, "driver.digest": DIGEST},
    {"driver.repository": REPOSITORY, "driver.version": "570", "driver.precompiled": True},
    {"driver.repository": REPOSITORY, "driver.digest": DIGEST, "driver.precompiled": True},
)
TOOLKITS: tuple[dict[str, Any], ...] = (
    {},
    *({"toolkit.provider": provider} for provider in Toolkit),
    *({"toolkit.installDir": path} for path in ("/usr/local/nvidia", "/usr/local/x", "/opt/nvidia", "/usr/nvidia")),
)
OVERLAYS: tuple[dict[str, Any], ...] = ({}, *({"usrLocal.mode": mode} for mode in UsrLocal))
OPERATORS: tuple[dict[str, Any], ...] = (
    {},
    {"operator.nri": True},
    {"operator.runtimeClass": "gpu"},
    {"operator.nvidiaDriverCRD": True},
)


def _accepted(strategy: Strategy) -> list[Plan]:
    plans = []
    images = IMAGES if strategy is Strategy.CONTAINER else IMAGES[:1]
    for parts in itertools.product(images, TOOLKITS, OVERLAYS, OPERATORS, CHARTS):
        *settings, chart = parts
        values = {"driver.strategy": strategy, "operator.chartVersion": chart}
        plan = resolve(with_values(Spec(), values | {key: value for part in settings for key, value in part.items()}))
        if not check_operator(plan).has_errors:
            plans.append(plan)
    return plans


@dataclass(frozen=True)
class Node:
    """What is on a node, from its Butane config."""

    files: dict[str, str]
    links: set[str]
    masked: set[str]
    units: dict[str, str]

    @classmethod
    def of(cls, plan: Plan) -> Node:
        tree = build(plan)
        storage, units = tree.get("storage", {}), tree.get("systemd", {}).get("units", [])
        return cls(
            files={item["path"]: item["contents"].get("inline", "") for item in storage.get("files", [])},
            links={item["path"] for item in storage.get("links", [])},
            masked={unit["name"] for unit in units if unit.get("mask")},
            units={
                unit["name"]: unit.get("contents", "") + "".join(part["contents"] for part in unit.get("dropins", []))
                for unit in units
            },
        )

    @property
    def has_driver_extension(self) -> bool:
        return "nvidia-drivers-" in self.files.get("/etc/flatcar/enabled-sysext.conf", "")

    @property
    def has_toolkit_extension(self) -> bool:
        return "/etc/extensions/nvidia-runtime.raw" in self.links

    @property
    def builds_a_driver(self) -> bool:
        """nvidia.service builds one wherever it is not masked and no extension brings one."""
        return "nvidia.service" not in self.masked and not self.has_driver_extension

    @property
    def containerd_config(self) -> str:
        unit = self.units.get("containerd.service", "")
        return unit.rpartition("--config ")[2].strip() if unit else "/usr/share/containerd/config.toml"

    def imports(self, path: str) -> bool:
        """Whether containerd reads `path` through the file that it starts with."""
        text = self.files.get(self.containerd_config, "")
        globs = [word.strip('[]" ') for line in text.splitlines() if "imports" in line for word in line[9:].split(",")]
        return any(fnmatch(path, glob) for glob in globs)

    def can_write(self, path: str) -> bool:
        is_overlaid = "usr-local.mount" in self.units and path.startswith("/usr/local/")
        return not path.startswith("/usr/") or is_overlaid


def _env(values: Values, key: str) -> dict[str, str]:
    return {item["name"]: item["value"] for item in values.get(key) or []}


@pytest.mark.parametrize("strategy", list(Strategy))
def test_every_accepted_combination_is_one_node_and_its_values(strategy: Strategy) -> None:
    plans = _accepted(strategy)
    assert len(plans) > 20
    for plan in plans:
        text = entries_text(operator_values(plan))
        values = Values(plan.operator.chart, yaml.safe_load(text))
        node = Node.of(plan)
        _keys_are_the_chart_s(values)
        _one_driver(plan, node, values)
        _one_toolkit(node, values)
        _toolkit_can_be_installed(node, values)
        _containerd_knows_the_runtime(node, values)


def _keys_are_the_chart_s(values: Values) -> None:
    for path, value, key in values.walk():
        assert key is not None, path
        assert key.is_in(values.chart), path
        assert key.misfit(value) == "", path


def _one_driver(plan: Plan, node: Node, values: Values) -> None:
    if values.get("driver.enabled") is False:
        assert plan.driver_image is None
        assert "nvidia.service" not in node.masked
        return
    assert not node.has_driver_extension
    assert not node.builds_a_driver
    image = values.tree["driver"]
    if values.get("driver.nvidiaDriverCRD.enabled"):
        assert values.get("driver.nvidiaDriverCRD.deployDefaultCR") is False
        assert plan.driver_image is not None
        image = yaml.safe_load(resources_text([DriverPool("pool", plan.driver_image)]))["spec"]
    assert image["repository"] == REPOSITORY
    assert isinstance(image["version"], str)
    assert not (image.get("usePrecompiled") and image["version"].startswith("sha256:"))


def _one_toolkit(node: Node, values: Values) -> None:
    is_operators = values.get("toolkit.enabled") is not False
    assert not (is_operators and node.has_toolkit_extension)
    assert not (node.has_toolkit_extension and "usr-local.mount" in node.units)
    assert not (node.has_toolkit_extension and values.get("driver.enabled"))


def _toolkit_can_be_installed(node: Node, values: Values) -> None:
    if values.get("toolkit.enabled") is not False:
        assert node.can_write(values.get("toolkit.installDir") or "/usr/local/nvidia")


def _containerd_knows_the_runtime(node: Node, values: Values) -> None:
    if values.get("cdi.nriPluginEnabled"):
        assert values.get("toolkit.enabled") is True
        return
    if node.has_toolkit_extension:
        # The extension starts containerd with a configuration of its own, which has one runtime of this name.
        assert values.get("operator.runtimeClass") == "nvidia"
        assert "containerd.service" not in node.units
        return
    if values.get("toolkit.enabled") is False:
        return
    env = _env(values, "toolkit.env")
    written = env.get("RUNTIME_DROP_IN_CONFIG", env["CONTAINERD_CONFIG"])
    assert node.imports(written)
    if values.chart >= ChartVersion(25, 10, 0):
        assert env["CONTAINERD_CONFIG"] == node.containerd_config
    # Older toolkits know only a part of the configuration that they extend.
    assert values.chart >= ChartVersion(24, 9, 0)
