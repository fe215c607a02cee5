from __future__ import annotations

from flatcar_gpu.flatcar.index import Index, Release
from flatcar_gpu.flatcar.version import Version
from flatcar_gpu.images.audit import NodeGroup, pulls, successors
from flatcar_gpu.images.lookup import Lookup, State
from flatcar_gpu.images.tags import Driver, Mode
from flatcar_gpu.kubernetes.image_audit import Audit, audit_findings, next_releases
from flatcar_gpu.kubernetes.nodes import Survey

DRIVER = Driver("580")


def release(version: str, channel: str, kernel: str) -> Release:
    return Release(Version.parse(version), channel, None, kernel, None, None, None, None, ("amd64",))


_RELEASES = [
    release("2905.2.0", "stable", "5.10.52"),
    release("3510.2.0", "stable", "5.15.86"),
    release("4593.2.5", "stable", "6.12.102"),
    release("3510.3.7", "lts", "5.15.167"),
    release("3510.3.8", "lts", "5.15.170"),
    release("4081.3.6", "lts", "6.6.100"),
]
INDEX = Index({found.version: found for found in _RELEASES}, {})
OLD = NodeGroup("flatcar", "2905.2.0", "2905.2.0", "5.10.52-flatcar", "amd64", 3, "old-0")
NEW = NodeGroup("flatcar", "4593.2.5", "4593.2.5", "6.12.102-flatcar", "amd64", 2, "new-0")
REPLACED = NodeGroup("flatcar", "2905", "2905.2.0", "5.10.52-flatcar", "amd64", 1, "short-0")


def survey(*groups: NodeGroup) -> Survey:
    return Survey(sum(group.nodes for group in groups), groups, groups[0], {}, 0)


def audit(*groups: NodeGroup, state: State = State.PRESENT, modes: tuple[Mode, ...] = tuple(Mode)) -> Audit:
    found = survey(*groups)
    planned = [pull for mode in modes for pull in pulls(DRIVER, mode, groups, groups[0])]
    following = list(successors(DRIVER, groups, next_releases(found, INDEX)))
    references = [pull.reference for pull in planned if pull.reference]
    references += [successor.image.reference for successor in following]
    lookups = {reference: Lookup(reference, state, message=f"{reference} is {state}") for reference in references}
    return Audit(DRIVER, modes, found, planned, following, lookups)


def said(found: Audit) -> list[str]:
    return [f"{problem.severity}: {problem.message}" for problem in audit_findings(found)]


def test_nothing_is_said_of_nodes_on_the_newest_release_whose_image_is_there() -> None:
    assert said(audit(NEW)) == []


def test_a_missing_image_is_one_error_although_both_modes_pull_it() -> None:
    assert said(audit(NEW, state=State.MISSING)) == ["error: nvcr.io/nvidia/driver:580-flatcar4593.2.5 is missing"]


def test_an_image_that_will_be_missing_after_an_update_is_a_warning() -> None:
    says = said(audit(OLD, state=State.MISSING))
    assert says == [
        "error: nvcr.io/nvidia/driver:580-flatcar2905.2.0 is missing",
        "warning: after the next update: nvcr.io/nvidia/driver:580-flatcar4593.2.5 is missing",
    ]


def test_mixed_releases_are_an_error_where_cluster_policy_is_what_is_used() -> None:
    (both,) = said(audit(OLD, NEW))
    assert both.startswith("warning: cluster-policy gives all nodes the tag")
    assert "that is wrong for 2 of 5 nodes" in both
    (only,) = said(audit(OLD, NEW, modes=(Mode.CLUSTER_POLICY,)))
    assert only.startswith("error: cluster-policy")
    assert said(audit(OLD, NEW, modes=(Mode.NVIDIA_DRIVER,))) == []


def test_a_label_that_was_replaced_is_said() -> None:
    assert said(audit(REPLACED)) == [
        "warning: 1 node such as short-0: on 2905.2.0, but the label says 2905, and the operator goes by it"
    ]


def test_the_next_release_is_where_the_channel_stands_and_lts_keeps_its_major_number() -> None:
    lts = NodeGroup("flatcar", "3510.3.7", "3510.3.7", "", "amd64")
    unknown = NodeGroup("flatcar", "9999.2.0", "9999.2.0", "", "amd64")
    nameless = NodeGroup("flatcar", "", "", "", "amd64")
    found = next_releases(survey(OLD, NEW, lts, unknown, nameless), INDEX)
    assert {release: version for release, (version, _) in found.items()} == {
        "2905.2.0": "4593.2.5",
        "3510.3.7": "3510.3.8",
    }
    assert found["2905.2.0"][1] == "6.12.102-flatcar"


def test_one_digest_for_nodes_on_two_releases_is_warned_of() -> None:
    pinned = Driver("sha256:" + "ab" * 32)
    groups = (OLD, NEW)
    planned = pulls(pinned, Mode.NVIDIA_DRIVER, groups, OLD)
    (says,) = said(Audit(pinned, (Mode.NVIDIA_DRIVER,), survey(*groups), planned, None, {}))
    assert "they run 2 releases: 2905.2.0, 4593.2.5" in says
