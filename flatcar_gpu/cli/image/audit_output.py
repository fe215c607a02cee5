"""How an audit is written: tables for people, JSON for machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flatcar_gpu.cli.image.output import lookup_data
from flatcar_gpu.cli.releases.output import as_data, as_table

if TYPE_CHECKING:
    from flatcar_gpu.images.audit import NodeGroup, Pull, Successor
    from flatcar_gpu.images.lookup import Lookup
    from flatcar_gpu.images.reference import Reference
    from flatcar_gpu.kubernetes.image_audit import Audit
    from flatcar_gpu.report import Report

NOT_ASKED = "not asked"


def as_tables(audit: Audit) -> str:
    rows = [
        [str(pull.group.nodes), *_group_cells(pull.group), pull.mode, str(pull.reference or ""), _state(audit, pull)]
        for pull in sorted(audit.pulls, key=lambda pull: audit.survey.groups.index(pull.group))
    ]
    text = as_table(["NODES", "RELEASE", "KERNEL", "ARCH", "MODE", "IMAGE", "STATE"], rows)
    if audit.survey.others:
        others = ", ".join(f"{count} on {system}" for system, count in sorted(audit.survey.others.items()))
        text += f"\nGPU nodes that do not run Flatcar: {others}\n"
    if audit.successors is None:
        return text
    if not audit.successors:
        return text + "\nAll nodes run the newest release that the index has of their channels.\n"
    return text + "\n" + _next_table(audit)


def _next_table(audit: Audit) -> str:
    rows = [
        [
            str(successor.group.nodes),
            successor.group.release,
            successor.release,
            successor.kernel,
            str(successor.image.reference),
            _found(_lookup(audit, successor.image.reference, successor.group)),
        ]
        for successor in audit.successors or ()
    ]
    return as_table(["NODES", "RELEASE", "NEXT", "NEXT KERNEL", "IMAGE THEN", "STATE"], rows)


def as_json(audit: Audit, report: Report) -> str:
    driver = audit.driver
    return as_data(
        {
            "driver_version": driver.version,
            "chart_version": driver.chart,
            "precompiled": driver.precompiled,
            "nodes": {
                "total": audit.survey.total,
                "gpu_on_flatcar": audit.survey.gpu_nodes,
                "gpu_on_other_systems": dict(sorted(audit.survey.others.items())),
            },
            "groups": [_group_data(audit, group) for group in audit.survey.groups],
            "diagnostics": report.as_dict()["diagnostics"],
        },
        "json",
    )


def _group_data(audit: Audit, group: NodeGroup) -> dict[str, Any]:
    successor = next((found for found in audit.successors or () if found.group == group), None)
    return {
        "release": group.release or None,
        "os_tag": f"{group.os_id}{group.version_id}" or None,
        "kernel": group.kernel,
        "architecture": group.architecture,
        "nodes": group.nodes,
        "example": group.example,
        "pulls": {str(pull.mode): _pull_data(audit, pull) for pull in audit.pulls if pull.group == group},
        "next": _successor_data(audit, successor) if successor else None,
    }


def _pull_data(audit: Audit, pull: Pull) -> dict[str, Any]:
    data = lookup_data(pull.reference, _lookup(audit, pull.reference, pull.group))
    return data | {"message": pull.problem or data["message"], "made_for": pull.made_for or None}


def _successor_data(audit: Audit, successor: Successor) -> dict[str, Any]:
    reference = successor.image.reference
    lookup = _lookup(audit, reference, successor.group)
    return {"release": successor.release, "kernel": successor.kernel, **lookup_data(reference, lookup)}


def _group_cells(group: NodeGroup) -> list[str]:
    label = "" if group.has_own_version or not group.is_labelled else f" (label {group.version_id})"
    return [group.release + label, group.kernel, group.architecture]


def _state(audit: Audit, pull: Pull) -> str:
    if pull.reference is None:
        return "no driver"
    state = _found(_lookup(audit, pull.reference, pull.group))
    return f"{state} (made for {pull.made_for})" if pull.made_for else state


def _found(lookup: Lookup | None) -> str:
    return str(lookup.state) if lookup else NOT_ASKED


def _lookup(audit: Audit, reference: Reference | None, group: NodeGroup) -> Lookup | None:
    lookup = audit.lookups.get(reference) if reference else None
    return lookup.on(group.architecture) if lookup else None
