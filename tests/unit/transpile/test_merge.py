"""Ignition's merge semantics."""

from __future__ import annotations

from typing import Any

import pytest

from flatcar_gpu.transpile import merge

Tree = dict[str, Any]


def storage(**lists: list[Tree]) -> Tree:
    return {"ignition": {"version": "3.3.0"}, "storage": lists}


def test_scalars_of_the_child_win_and_unset_ones_stay() -> None:
    parent = storage(files=[{"path": "/a", "contents": {"source": "data:,a"}, "mode": 420}])
    child = storage(files=[{"path": "/a", "contents": {"source": "data:,b"}}])
    assert merge(parent, child)["storage"]["files"] == [{"path": "/a", "contents": {"source": "data:,b"}, "mode": 420}]


def test_the_parents_hash_stays_if_the_child_has_none() -> None:
    parent = storage(files=[{"path": "/a", "contents": {"source": "http://a", "verification": {"hash": "sha256-1"}}}])
    child = storage(files=[{"path": "/a", "contents": {"source": "http://b"}}])
    contents = merge(parent, child)["storage"]["files"][0]["contents"]
    assert contents == {"source": "http://b", "verification": {"hash": "sha256-1"}}


def test_false_and_empty_are_values() -> None:
    parent = {"systemd": {"units": [{"contents": "x", "enabled": True, "name": "a.service"}]}}
    child = {"systemd": {"units": [{"contents": "", "enabled": False, "name": "a.service"}]}}
    assert merge(parent, child) == child


def test_lists_are_united_by_key_in_the_parents_order() -> None:
    parent = {"passwd": {"users": [{"name": "b", "uid": 1}, {"name": "a"}]}}
    child = {"passwd": {"users": [{"name": "c"}, {"name": "a", "uid": 2}]}}
    assert merge(parent, child) == {
        "passwd": {"users": [{"name": "b", "uid": 1}, {"name": "a", "uid": 2}, {"name": "c"}]}
    }


def test_strings_are_united_without_duplicates() -> None:
    parent = {"passwd": {"users": [{"name": "core", "sshAuthorizedKeys": ["k1", "k2"]}]}}
    child = {"passwd": {"users": [{"name": "core", "sshAuthorizedKeys": ["k3", "k1"]}]}}
    assert merge(parent, child)["passwd"]["users"][0]["sshAuthorizedKeys"] == ["k1", "k2", "k3"]


def test_a_kernel_argument_moves_to_the_childs_list() -> None:
    parent = {"kernelArguments": {"shouldExist": ["quiet", "a"]}}
    child = {"kernelArguments": {"shouldNotExist": ["quiet"]}}
    assert merge(parent, child) == {"kernelArguments": {"shouldExist": ["a"], "shouldNotExist": ["quiet"]}}


@pytest.mark.parametrize(("old", "new"), [("links", "files"), ("files", "directories"), ("directories", "links")])
def test_a_node_replaces_another_kind_of_node(old: str, new: str) -> None:
    merged = merge(storage(**{old: [{"path": "/a"}, {"path": "/b"}]}), storage(**{new: [{"path": "/a"}]}))
    assert merged["storage"] == {old: [{"path": "/b"}], new: [{"path": "/a"}]}


def test_some_lists_are_only_appended() -> None:
    parent = storage(filesystems=[{"device": "/dev/a", "options": ["-x"]}])
    child = storage(filesystems=[{"device": "/dev/a", "options": ["-x"]}])
    assert merge(parent, child)["storage"]["filesystems"][0]["options"] == ["-x", "-x"]


def test_dropins_are_added_to_the_unit() -> None:
    parent = {
        "systemd": {"units": [{"contents": "x", "dropins": [{"contents": "1", "name": "a.conf"}], "name": "u.service"}]}
    }
    child = {"systemd": {"units": [{"dropins": [{"contents": "2", "name": "b.conf"}], "name": "u.service"}]}}
    unit = merge(parent, child)["systemd"]["units"][0]
    assert (unit["contents"], [dropin["name"] for dropin in unit["dropins"]]) == ("x", ["a.conf", "b.conf"])


def test_keys_stand_in_the_order_of_the_json_and_the_version_is_the_childs() -> None:
    merged = merge(
        {"systemd": {}, "ignition": {"version": "3.3.0"}},
        {"ignition": {"version": "3.4.0"}, "passwd": {"users": [{"name": "a"}]}},
    )
    assert list(merged) == ["ignition", "passwd", "systemd"]
    assert merged["ignition"] == {"version": "3.4.0"}


def test_neither_config_is_changed() -> None:
    parent, child = storage(files=[{"path": "/a"}]), storage(files=[{"path": "/a", "mode": 1}])
    merge(parent, child)
    assert (parent, child) == (storage(files=[{"path": "/a"}]), storage(files=[{"path": "/a", "mode": 1}]))
