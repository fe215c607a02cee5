"""What an audit of a cluster's driver images comes to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flatcar_gpu.flatcar.version import Version, is_version
from flatcar_gpu.images.audit import USE_NVIDIA_DRIVER
from flatcar_gpu.images.findings import findings
from flatcar_gpu.images.tags import Kind, Mode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from flatcar_gpu.flatcar.index import Index
    from flatcar_gpu.images.audit import NodeGroup, Pull, Successor
    from flatcar_gpu.images.lookup import Lookup
    from flatcar_gpu.images.reference import Reference
    from flatcar_gpu.images.tags import Driver
    from flatcar_gpu.kubernetes.nodes import Survey
    from flatcar_gpu.report import Report


@dataclass(frozen=True, slots=True)
class Audit:
    """Everything that was found out about a cluster. `lookups` lacks what no registry was asked for."""

    driver: Driver
    modes: tuple[Mode, ...]
    survey: Survey
    pulls: Sequence[Pull]
    successors: Sequence[Successor] | None
    lookups: Mapping[Reference, Lookup]


def next_releases(survey: Survey, index: Index) -> dict[str, tuple[str, str | None]]:
    """For each release that its channel has left behind, the one that an update brings, and its kernel.

    Updates lead to where the channel stands, not through the releases in between. LTS nodes stay with their major
    number: the index calls all LTS channels `lts`.
    """
    found = {}
    for group in survey.groups:
        known = index.get(Version.parse(group.release)) if is_version(group.release) else None
        if known is None or known.channel is None:
            continue
        releases = index.of_channel(known.channel)
        if known.channel == "lts":
            releases = [release for release in releases if release.version.major == known.version.major]
        newest = releases[0]
        if newest.version > known.version:
            found[group.release] = (str(newest.version), newest.uname)
    return found


def audit_findings(audit: Audit) -> Report:
    """Errors for what nodes cannot pull, warnings for what can go wrong or will after the next update."""
    report = findings(_lookups(audit, [(pull.reference, pull.group) for pull in audit.pulls]))
    for mode in audit.modes:
        _add_refusals(audit, mode, report)
    _add_mixed(audit, report)
    _add_labels(audit, report)
    releases = {group.release for group in audit.survey.groups}
    if audit.driver.kind is Kind.DIGEST and len(releases) > 1:
        report.warning(
            f"a digest is one image for all nodes, and they run {len(releases)} releases: {', '.join(sorted(releases))}",
            hint="pin a digest only where all GPU nodes run the release that the image was made for",
        )
    current = {pull.reference for pull in audit.pulls}
    soon = [(found.image.reference, found.group) for found in audit.successors or ()]
    for problem in findings(_lookups(audit, [pair for pair in soon if pair[0] not in current])):
        report.warning(f"after the next update: {problem.message}", hint=problem.hint)
    return report


def _lookups(audit: Audit, pairs: Iterable[tuple[Reference | None, NodeGroup]]) -> Iterator[Lookup]:
    """What registries say, for the architecture of each group; of some nothing was asked."""
    for reference, group in pairs:
        if reference and reference in audit.lookups:
            yield audit.lookups[reference].on(group.architecture)


def _add_labels(audit: Audit, report: Report) -> None:
    for group in audit.survey.groups:
        nodes = f"{_counted(group.nodes)} such as {group.example}"
        if not group.is_labelled:
            report.warning(
                f"{nodes}: there are not the labels system-os_release.ID and .VERSION_ID",
                hint="the operator goes by them; let node-feature-discovery run on these nodes",
            )
        elif not group.has_own_version and group.release:
            says = f"{nodes}: on {group.release}, but the label says {group.version_id}, and the operator goes by it"
            report.warning(says)


def _add_refusals(audit: Audit, mode: Mode, report: Report) -> None:
    refused: dict[tuple[str, str], int] = {}
    for pull in audit.pulls:
        if pull.mode is mode and pull.problem:
            refused[pull.problem, pull.hint] = refused.get((pull.problem, pull.hint), 0) + pull.group.nodes
    for (problem, hint), nodes in refused.items():
        says = f"{mode}: {_counted(nodes)} without a driver: {problem}"
        # Where both modes are looked at, one that cannot be used is no failure of the other.
        (report.error if audit.modes == (mode,) else report.warning)(says, hint=hint)


def _add_mixed(audit: Audit, report: Report) -> None:
    wrong = [pull for pull in audit.pulls if pull.made_for]
    if not wrong:
        return
    nodes = sum(pull.group.nodes for pull in wrong)
    says = (
        f"cluster-policy gives all nodes the tag of the GPU node that the operator lists first, {wrong[0].made_for} if "
        f"it is the first of this list: that is wrong for {nodes} of {_counted(audit.survey.gpu_nodes)}"
    )
    only = audit.modes == (Mode.CLUSTER_POLICY,)
    (report.error if only else report.warning)(says, hint=USE_NVIDIA_DRIVER)


def _counted(nodes: int) -> str:
    return "1 node" if nodes == 1 else f"{nodes} nodes"
