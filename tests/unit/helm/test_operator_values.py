from __future__ import annotations

from typing import Any

import pytest
import yaml

from flatcar_gpu.chart import NEWEST
from flatcar_gpu.flatcar.index import Release
from flatcar_gpu.flatcar.version import Version
from flatcar_gpu.helm.keys import keys
from flatcar_gpu.helm.operator_values import image_entries, operator_values
from flatcar_gpu.helm.yaml_text import entries_text, tree_of
from flatcar_gpu.images.tags import DEFAULT_REPOSITORY, Driver, Mode, driver_image
from flatcar_gpu.plan import resolve
from flatcar_gpu.settings import settings, with_values
from flatcar_gpu.spec import OperatorSpec, Spec, Strategy, Toolkit

DIGEST = "sha256:" + "0123456789abcdef" * 4
IMAGE = {"driver.repository": "registry.example.com/nvidia", "driver.version": "570.195.03"}


def _tree(values: dict[str, Any]) -> dict[str, Any]:
    entries = operator_values(resolve(with_values(Spec(), values)))
    tree: dict[str, Any] = yaml.safe_load(entries_text(entries, "comment"))
    assert tree == tree_of(entries)
    return tree


@pytest.mark.parametrize("strategy", [Strategy.SYSEXT, Strategy.SERVICE])
def test_flatcar_s_own_driver_is_what_flatcar_documents(strategy: Strategy) -> None:
    assert _tree({"driver.strategy": strategy}) == {"driver": {"enabled": False}, "toolkit": {"enabled": False}}


def test_a_driver_container_has_its_image_and_the_toolkit_the_node_s_containerd() -> None:
    assert _tree(IMAGE) == {
        "driver": {"repository": "registry.example.com/nvidia", "version": "570.195.03"},
        "toolkit": {
            "env": [
                {"name": "CONTAINERD_CONFIG", "value": "/etc/containerd/config.toml"},
                {"name": "RUNTIME_DROP_IN_CONFIG", "value": "/etc/containerd/conf.d/99-nvidia.toml"},
            ]
        },
    }


def test_a_digest_is_the_version_and_names_no_tag() -> None:
    values = {**IMAGE, "driver.digest": DIGEST}
    assert _tree(values)["driver"] == {"repository": "registry.example.com/nvidia", "version": DIGEST}
    assert b"-flatcar" not in entries_text(operator_values(resolve(with_values(Spec(), values))))


def test_a_tag_s_comment_has_the_reference_that_the_operator_makes() -> None:
    plan = resolve(with_values(Spec(), {**IMAGE, "driver.precompiled": True}))
    text = entries_text(operator_values(plan)).decode()
    assert "registry.example.com/nvidia/driver:570.195.03-KERNEL-flatcarVERSION_ID\n" in text


@pytest.mark.parametrize(
    ("chart", "expected"),
    [
        ("v24.9.0", {"CONTAINERD_CONFIG": "/etc/containerd/conf.d/99-nvidia.toml"}),
        ("v25.3.4", {"CONTAINERD_CONFIG": "/etc/containerd/conf.d/99-nvidia.toml"}),
        (
            "v25.10.0",
            {
                "CONTAINERD_CONFIG": "/etc/containerd/config.toml",
                "RUNTIME_DROP_IN_CONFIG": "/etc/containerd/conf.d/99-nvidia.toml",
            },
        ),
    ],
)
def test_the_toolkit_writes_where_containerd_reads_it(chart: str, expected: dict[str, str]) -> None:
    env = _tree({**IMAGE, "operator.chartVersion": chart})["toolkit"]["env"]
    assert {item["name"]: item["value"] for item in env} == expected


@pytest.mark.parametrize(
    ("strategy", "chart", "is_off"),
    [
        (Strategy.CONTAINER, "v23.3.2", False),
        (Strategy.CONTAINER, "v23.6.0", True),
        (Strategy.CONTAINER, "v24.3.0", True),
        (Strategy.CONTAINER, "v24.6.0", False),
        (Strategy.SYSEXT, "v24.3.0", True),
        (Strategy.SYSEXT, "v24.6.0", False),
        (Strategy.SERVICE, "v23.3.2", False),
        (Strategy.SERVICE, "v23.6.0", True),
        (Strategy.SERVICE, "v25.10.1", True),
        (Strategy.SERVICE, "v26.3.0", False),
        (Strategy.NONE, "v24.3.0", False),
    ],
)
def test_the_validator_loads_no_modules_where_it_cannot(strategy: Strategy, chart: str, is_off: bool) -> None:
    tree = _tree({"driver.strategy": strategy, "operator.chartVersion": chart, **IMAGE})
    env = [{"name": "DISABLE_DEV_CHAR_SYMLINK_CREATION", "value": "true"}]
    assert tree.get("validator") == ({"driver": {"env": env}} if is_off else None)


def test_charts_that_take_docker_for_the_runtime_are_told() -> None:
    values = {"driver.strategy": Strategy.SYSEXT, "operator.chartVersion": "v1.8.2"}
    assert _tree(values)["operator"] == {"defaultRuntime": "containerd"}
    assert "operator" not in _tree({**values, "operator.chartVersion": "v1.9.0"})


def test_nri_needs_no_configuration_of_containerd() -> None:
    tree = _tree({**IMAGE, "operator.nri": True})
    assert tree["cdi"] == {"nriPluginEnabled": True}
    assert "toolkit" not in tree


def test_taints_are_tolerated_by_operands_and_by_node_feature_discovery() -> None:
    tree = _tree({**IMAGE, "operator.tolerations": ("dedicated=gpu:NoExecute", "slow", "nvidia.com/gpu:NoSchedule")})
    ours = [
        {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
        {"key": "dedicated", "operator": "Equal", "value": "gpu", "effect": "NoExecute"},
        {"key": "slow", "operator": "Exists"},
    ]
    assert tree["daemonsets"]["tolerations"] == ours
    assert tree["node-feature-discovery"]["worker"]["tolerations"][1:] == ours


def test_with_resources_of_its_own_the_chart_makes_none_and_names_no_image() -> None:
    assert _tree({**IMAGE, "operator.nvidiaDriverCRD": True})["driver"] == {
        "nvidiaDriverCRD": {"enabled": True, "deployDefaultCR": False}
    }


def test_an_install_directory_is_named_where_it_is_not_the_chart_s() -> None:
    assert _tree({**IMAGE, "toolkit.installDir": "/opt/nvidia"})["toolkit"]["installDir"] == "/opt/nvidia"
    assert "installDir" not in _tree({**IMAGE, "toolkit.installDir": "/usr/local/nvidia"})["toolkit"]


def test_every_entry_names_a_setting_that_there_is() -> None:
    everything = {
        **IMAGE,
        "driver.image": "gpu",
        "driver.kernelModuleType": "open",
        "driver.precompiled": True,
        "driver.imagePullSecrets": ("a",),
        "driver.rdma": True,
        "operator.runtimeClass": "gpu",
        "operator.tolerations": ("a",),
        "operator.nri": True,
        "toolkit.installDir": "/opt/nvidia",
    }
    specs = [everything, {**IMAGE, "operator.nvidiaDriverCRD": True, "operator.chartVersion": "v1.8.0"}]
    specs += [
        {"driver.strategy": Strategy.SERVICE, "toolkit.provider": Toolkit.NONE, "operator.chartVersion": "v24.3.0"}
    ]
    for spec in specs:
        for entry in operator_values(resolve(with_values(Spec(), spec))):
            assert entry.setting in settings(), entry.key


@pytest.mark.parametrize("precompiled", [False, True])
@pytest.mark.parametrize("resources", [False, True])
def test_a_comment_s_reference_is_what_the_images_part_says_of_the_operator(precompiled: bool, resources: bool) -> None:
    release = Release(Version.parse("4593.2.4"), "stable", None, "6.12.81", None, None, None, None, ("amd64",))
    spec = with_values(Spec(), {**IMAGE, "driver.precompiled": precompiled, "operator.nvidiaDriverCRD": resources})
    image = resolve(spec).driver_image
    assert image is not None
    (why,) = [entry.why for entry in image_entries(image, release) if entry.key == "version"]
    mode = Mode.NVIDIA_DRIVER if resources else Mode.CLUSTER_POLICY
    driver = Driver("570.195.03", "registry.example.com/nvidia", "driver", precompiled, mode)
    expected = driver_image(driver, "flatcar", "4593.2.4", release.uname).reference
    assert why == f"the operator pulls {expected}"


def test_there_is_one_newest_chart() -> None:
    assert str(NEWEST) == OperatorSpec().chart_version == Driver("580").chart
    assert keys()["driver.repository"].default == DEFAULT_REPOSITORY
