from __future__ import annotations

import io
import json
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from flatcar_gpu.errors import Failure
from flatcar_gpu.kubernetes.nodes import GPU_LABELS, Node, nodes_in, nodes_of_cluster, read_nodes, survey

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

NFD = "feature.node.kubernetes.io/"


def node(
    name: str = "gpu-0",
    release: str = "2905.2.0",
    kernel: str = "5.10.52-flatcar",
    *,
    labels: Mapping[str, str] | None = None,
    gpu: bool = True,
    labelled: bool = True,
    image: str = "",
    architecture: str = "amd64",
) -> dict[str, Any]:
    """A node as Kubernetes lists it; `labels` are in addition to those that it would have."""
    own = {
        f"{NFD}system-os_release.ID": "flatcar",
        f"{NFD}system-os_release.VERSION_ID": release,
        f"{NFD}kernel-version.full": kernel,
    }
    gpus = {f"{NFD}pci-10de.present": "true"} if gpu else {}
    return {
        "kind": "Node",
        "metadata": {"name": name, "labels": {**(own if labelled else {}), **gpus, **(labels or {})}},
        "status": {
            "capacity": {"cpu": "8"},
            "nodeInfo": {
                "osImage": image or f"Flatcar Container Linux by Kinvolk {release} (Oklo)",
                "kernelVersion": kernel,
                "architecture": architecture,
            },
        },
    }


def read(*nodes: dict[str, Any]) -> list[Node]:
    return list(nodes_in(io.BytesIO(json.dumps({"kind": "List", "items": nodes}).encode()), "nodes.json"))


def test_a_node_is_read_from_labels_and_status() -> None:
    assert read(node()) == [
        Node(
            name="gpu-0",
            os_id="flatcar",
            version_id="2905.2.0",
            kernel_label="5.10.52-flatcar",
            release="2905.2.0",
            os_image="Flatcar Container Linux by Kinvolk 2905.2.0 (Oklo)",
            kernel="5.10.52-flatcar",
            architecture="amd64",
            has_gpu=True,
        )
    ]


@pytest.mark.parametrize("label", GPU_LABELS)
def test_labels_tell_a_gpu_node(label: str) -> None:
    assert read(node(gpu=False, labels={label: "true"}))[0].has_gpu
    assert not read(node(gpu=False, labels={label: "false"}))[0].has_gpu


@pytest.mark.parametrize(("amount", "has_gpu"), [("8", True), ("0", False)])
def test_the_capacity_tells_a_gpu_node_where_labels_do_not(amount: str, has_gpu: bool) -> None:
    plain = node(gpu=False)
    plain["status"]["capacity"]["nvidia.com/gpu"] = amount
    assert read(plain)[0].has_gpu is has_gpu


def test_a_single_node_is_a_list_of_one() -> None:
    assert len(list(nodes_in(io.BytesIO(json.dumps(node()).encode()), "x"))) == 1


def test_a_node_without_anything_is_no_gpu_node() -> None:
    assert read({"metadata": None}) == [Node("", "", "", "", None, "", "", "", has_gpu=False)]


@pytest.mark.parametrize(
    ("item", "says"),
    [
        ({"kind": "Pod"}, "item 2 is not a node but a Pod"),
        (1, "item 2 is not an object"),
        ({"metadata": []}, "item 2 is not a node: metadata is not an object"),
        ({"status": {"nodeInfo": "x"}}, "item 2 is not a node: nodeInfo is not an object"),
    ],
)
def test_what_is_no_node_is_named_by_its_place(item: Any, says: str) -> None:
    with pytest.raises(Failure, match=f"nodes.json: {says}"):
        read(node(), item)


def test_alike_nodes_are_one_group_in_order_of_release() -> None:
    found = survey(
        read(
            node("b", "4593.2.10", "6.12.102-flatcar"),
            node("a"),
            node("c"),
            node("d", "4593.2.5", "6.12.102-flatcar"),
            node("e", gpu=False),
            node("f", architecture="arm64"),
        )
    )
    assert [(group.release, group.architecture, group.nodes, group.example) for group in found.groups] == [
        ("2905.2.0", "amd64", 2, "a"),
        ("2905.2.0", "arm64", 1, "f"),
        ("4593.2.5", "amd64", 1, "d"),
        ("4593.2.10", "amd64", 1, "b"),
    ]
    assert (found.total, found.gpu_nodes, found.flatcar_without_gpu) == (6, 5, 1)
    assert found.first
    assert found.first.version_id == "4593.2.10"


def test_the_first_gpu_node_can_be_on_another_system() -> None:
    ubuntu = node(image="Ubuntu 22.04.5 LTS", labels={f"{NFD}system-os_release.ID": "ubuntu"})
    found = survey(read(node("cpu", gpu=False), ubuntu, node()))
    assert found.first
    assert found.first.os_id == "ubuntu"
    assert found.others == {"Ubuntu 22.04.5 LTS": 1}
    assert found.gpu_nodes == 1


def test_without_labels_all_flatcar_nodes_can_be_taken() -> None:
    nodes = read(node(gpu=False, labelled=False), node(gpu=False, image="Ubuntu 22.04", labelled=False))
    assert survey(nodes).groups == ()
    (group,) = survey(nodes, all_nodes=True).groups
    assert (group.release, group.version_id, group.kernel, group.nodes) == ("2905.2.0", "", "5.10.52-flatcar", 1)


@pytest.mark.parametrize(
    "image",
    ["Flatcar Container Linux 4628.0.0", "Flatcar Container Linux by Kinvolk 4628.0.0 (LTS 2024)"],
)
def test_the_release_is_read_from_every_form_of_the_status(image: str) -> None:
    assert read(node(image=image))[0].release == "4628.0.0"


def test_a_label_that_was_replaced_is_kept_apart_from_the_release() -> None:
    (group,) = survey(read(node(labels={f"{NFD}system-os_release.VERSION_ID": "2905"}))).groups
    assert (group.version_id, group.release, group.has_own_version) == ("2905", "2905.2.0", False)


def test_a_file_and_stdin_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = json.dumps(node()).encode()
    (tmp_path / "nodes.json").write_bytes(data)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
    assert list(read_nodes(str(tmp_path / "nodes.json"))) == list(read_nodes("-"))


@pytest.mark.parametrize(("name", "says"), [("none.json", "No such file"), (".", "Is a directory")])
def test_a_file_that_cannot_be_read_is_an_error(name: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(Failure, match=f"cannot read .*: {says}"):
        list(read_nodes(str(tmp_path / name)))


class TestKubectl:
    @pytest.fixture
    def kubectl(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        program = tmp_path / "kubectl"
        program.touch(mode=0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
        return program

    def test_it_is_asked_for_json(self, kubectl: Path, tmp_path: Path) -> None:
        (tmp_path / "list").write_text(json.dumps(node()))
        kubectl.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/asked\ncat {tmp_path}/list\n')
        assert [found.name for found in nodes_of_cluster("prod")] == ["gpu-0"]
        assert (tmp_path / "asked").read_text() == "--context prod get nodes --output json\n"

    @pytest.mark.parametrize("prints", ["", '{"items": ['])
    def test_what_it_says_when_it_fails_is_passed_on(self, prints: str, kubectl: Path) -> None:
        kubectl.write_text(f"#!/bin/sh\necho '{prints}'\necho 'The connection was refused' >&2\nexit 1\n")
        with pytest.raises(Failure, match="kubectl get nodes --output json failed: The connection was refused"):
            list(nodes_of_cluster())

    def test_a_list_that_is_broken_although_it_succeeds_is_an_error(self, kubectl: Path) -> None:
        kubectl.write_text("#!/bin/sh\necho '{'\n")
        with pytest.raises(Failure, match="kubectl:2:1: this is not the JSON of a node list"):
            list(nodes_of_cluster())

    def test_it_must_be_there(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(Failure, match="kubectl cannot be run: No such file"):
            list(nodes_of_cluster())
