from __future__ import annotations

import pytest

from flatcar_gpu.errors import Failure
from flatcar_gpu.images.audit import NodeGroup, pulls, successors
from flatcar_gpu.images.tags import Driver, Mode

OLD = NodeGroup("flatcar", "2905.2.0", "2905.2.0", "5.10.52-flatcar", "amd64", 3, "old-0")
NEW = NodeGroup("flatcar", "4593.2.5", "4593.2.5", "6.12.102-flatcar", "amd64", 2, "new-0")
SAME_KERNEL = NodeGroup("flatcar", "2905.2.1", "2905.2.1", "5.10.52-flatcar", "amd64", 1, "twin-0")
UNLABELLED = NodeGroup("", "", "4593.2.5", "6.12.102-flatcar", "amd64", 1, "bare-0")
UBUNTU = NodeGroup("ubuntu", "22.04", "", "5.15.0-100-generic", "amd64", 1, "u-0")
DIGEST = "sha256:" + "ab" * 32


def tags(mode: Mode, *groups: NodeGroup, first: NodeGroup | None = None, **told: object) -> list[str]:
    driver = Driver(**{"version": "580", **told})  # type: ignore[arg-type]
    found = pulls(driver, mode, groups, first or groups[0])
    return [pull.reference.tag if pull.reference else "" for pull in found]


def test_nvidia_driver_gives_each_release_its_own_tag() -> None:
    assert tags(Mode.NVIDIA_DRIVER, OLD, NEW) == ["580-flatcar2905.2.0", "580-flatcar4593.2.5"]


def test_cluster_policy_gives_mixed_releases_the_tag_of_the_first_node() -> None:
    assert tags(Mode.CLUSTER_POLICY, OLD, NEW, first=NEW) == ["580-flatcar4593.2.5"] * 2
    found = pulls(Driver("580"), Mode.CLUSTER_POLICY, [OLD, NEW], NEW)
    assert [pull.made_for for pull in found] == ["flatcar 4593.2.5", ""]


def test_cluster_policy_takes_the_tag_of_another_system_too() -> None:
    assert tags(Mode.CLUSTER_POLICY, OLD, first=UBUNTU) == ["580-ubuntu22.04"]


def test_a_digest_is_right_for_whom_it_was_pinned() -> None:
    found = pulls(Driver(DIGEST), Mode.CLUSTER_POLICY, [OLD, NEW], OLD)
    assert [pull.made_for for pull in found] == ["", ""]


def test_precompiled_has_each_group_s_kernel_but_with_cluster_policy_the_first_node_s_release() -> None:
    assert tags(Mode.NVIDIA_DRIVER, OLD, NEW, precompiled=True) == [
        "580-5.10.52-flatcar-flatcar2905.2.0",
        "580-6.12.102-flatcar-flatcar4593.2.5",
    ]
    assert tags(Mode.CLUSTER_POLICY, OLD, NEW, precompiled=True) == [
        "580-5.10.52-flatcar-flatcar2905.2.0",
        "580-6.12.102-flatcar-flatcar2905.2.0",
    ]


def test_precompiled_with_two_releases_on_one_kernel_stops_cluster_policy_alone() -> None:
    found = pulls(Driver("580", precompiled=True), Mode.CLUSTER_POLICY, [OLD, SAME_KERNEL], OLD)
    assert [pull.image for pull in found] == [None, None]
    assert "flatcar2905.2.0, flatcar2905.2.1 all have 5.10.52-flatcar" in found[0].problem
    assert "" not in tags(Mode.NVIDIA_DRIVER, OLD, SAME_KERNEL, precompiled=True)


def test_nodes_without_labels_get_nothing_from_nvidia_driver() -> None:
    assert tags(Mode.NVIDIA_DRIVER, OLD, UNLABELLED) == ["580-flatcar2905.2.0", ""]


def test_a_first_node_without_labels_stops_new_operators_and_spoils_the_tag_of_old_ones() -> None:
    assert tags(Mode.CLUSTER_POLICY, OLD, first=UNLABELLED, chart="v26.3.0") == [""]
    assert tags(Mode.CLUSTER_POLICY, OLD, first=UNLABELLED, chart="v25.10.1") == ["580-"]


def test_what_is_wrong_for_all_nodes_is_raised() -> None:
    with pytest.raises(Failure, match="specifying image digest is not supported"):
        tags(Mode.NVIDIA_DRIVER, OLD, version=DIGEST, precompiled=True)


def test_the_next_release_changes_tag_and_kernel_unless_the_label_was_replaced() -> None:
    replaced = NodeGroup("flatcar", "2905", "2905.2.0", "5.10.52-flatcar", "amd64")
    following = {"2905.2.0": ("4593.2.5", "6.12.102-flatcar")}
    found = list(successors(Driver("580"), [OLD, NEW, replaced], following))
    assert [(successor.release, successor.image.reference.tag) for successor in found] == [
        ("4593.2.5", "580-flatcar4593.2.5"),
        ("4593.2.5", "580-flatcar2905"),
    ]
