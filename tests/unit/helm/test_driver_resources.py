from __future__ import annotations

from typing import Any

import pytest
import yaml

from flatcar_gpu.helm.driver_resources import RELEASE_LABEL, DriverPool, conflicts, driver_resources, resources_text
from flatcar_gpu.helm.yaml_text import tree_of
from flatcar_gpu.plan import DriverImage, Toleration, resolve
from flatcar_gpu.settings import with_values
from flatcar_gpu.spec import Spec

DIGEST = "sha256:" + "0123456789abcdef" * 4


def _image(**values: Any) -> DriverImage:
    given = {"driver.repository": "registry.example.com/nvidia", "driver.version": "570.195.03"}
    image = resolve(with_values(Spec(), {**given, **values})).driver_image
    assert image is not None
    return image


TAG, PINNED = _image(), _image(**{"driver.digest": DIGEST})


@pytest.mark.parametrize(
    ("pool", "selector"),
    [
        (DriverPool("a", TAG), {"nvidia.com/gpu.present": "true"}),
        (DriverPool("a", PINNED), {"nvidia.com/gpu.present": "true"}),
        (DriverPool("a", TAG, release="4593.2.5"), {RELEASE_LABEL: "4593.2.5"}),
        (DriverPool("a", TAG, {"pool": "a"}, "4593.2.5"), {"pool": "a"}),
        (DriverPool("a", PINNED, {"pool": "a"}, "4593.2.5"), {"pool": "a", RELEASE_LABEL: "4593.2.5"}),
    ],
)
def test_a_pool_is_selected_by_its_labels_and_a_pinned_image_by_its_release(
    pool: DriverPool, selector: dict[str, str]
) -> None:
    assert pool.node_selector == selector


def test_each_pool_is_a_resource_in_order_with_its_image() -> None:
    pools = [DriverPool("new", TAG, release="4593.2.5"), DriverPool("old", PINNED, release="4459.2.0")]
    first, second = (tree_of(resource) for resource in driver_resources(pools))
    assert first == {
        "apiVersion": "nvidia.com/v1alpha1",
        "kind": "NVIDIADriver",
        "metadata": {"name": "new"},
        "spec": {
            "driverType": "gpu",
            "repository": "registry.example.com/nvidia",
            "image": "driver",
            "version": "570.195.03",
            "nodeSelector": {RELEASE_LABEL: "4593.2.5"},
            "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
        },
    }
    assert second["spec"]["version"] == DIGEST


def test_the_text_has_a_document_a_pool() -> None:
    pools = [DriverPool("a", TAG, {"pool": "a"}), DriverPool("b", TAG, {"pool": "b"}, tolerations=(Toleration("b"),))]
    documents = list(yaml.safe_load_all(resources_text(pools, "comment")))
    assert documents == [tree_of(resource) for resource in driver_resources(pools)]
    assert documents[1]["spec"]["tolerations"][1] == {"key": "b", "operator": "Exists"}
    assert list(yaml.safe_load_all(resources_text([]))) == []


@pytest.mark.parametrize(
    ("pools", "expected"),
    [
        ([DriverPool("a", TAG, {"p": "1"}), DriverPool("b", TAG, {"p": "2"})], []),
        ([DriverPool("a", TAG, {"p": "1"}), DriverPool("b", TAG, {"p": "1"})], ["b"]),
        ([DriverPool("a", TAG, {"p": "1", "q": "1"}), DriverPool("b", TAG, {"p": "1", "q": "2"})], []),
        ([DriverPool("a", TAG, {"p": "1"}), DriverPool("b", TAG, {"p": "2", "q": "2"})], []),
        ([DriverPool("a", TAG, {"p": "1"}), DriverPool("b", TAG, {"p": "1", "q": "2"})], ["b"]),
        ([DriverPool("a", TAG, {"p": "1"}), DriverPool("b", TAG, {"q": "2"})], ["b"]),
        ([DriverPool("a", TAG), DriverPool("b", TAG, release="4593.2.5")], ["b"]),
        ([DriverPool("a", TAG, release="4593.2.4"), DriverPool("b", TAG, release="4593.2.5")], []),
        ([DriverPool("a", TAG, {"p": "1"}), DriverPool("a", TAG, {"p": "2"})], ["a"]),
    ],
)
def test_pools_conflict_unless_a_common_label_tells_them_apart(pools: list[DriverPool], expected: list[str]) -> None:
    assert [problem.path for problem in conflicts(pools)] == expected


def test_thousands_of_pools_are_told_apart() -> None:
    pools = [DriverPool(f"pool-{number}", TAG, {"pool": str(number)}) for number in range(5000)]
    assert list(conflicts(pools)) == []
    assert [problem.path for problem in conflicts([*pools, DriverPool("last", TAG, {"pool": "4999"})])] == ["last"]
