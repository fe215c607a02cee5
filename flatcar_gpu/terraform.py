"""The program of Terraform's `external` data source: a JSON object of texts in, one out.

What Terraform does with it shapes this module: texts are all it knows; it shows what stands on stderr only where the
program fails, so warnings are part of the answer; it makes every text Unicode NFC, so a checksum is of that form; it
runs the program at every plan, ten at a time, so the same query gives the same answer, without a network where it can.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from dataclasses import replace
from typing import TYPE_CHECKING

from flatcar_gpu.assembly import assemble, check_node
from flatcar_gpu.errors import Failure, InvalidInput
from flatcar_gpu.flatcar.resolve import resolve_release
from flatcar_gpu.flatcar.version import is_version
from flatcar_gpu.fleet import plan_fleet
from flatcar_gpu.helm.operator_values import values_text
from flatcar_gpu.node.yaml_text import butane_text
from flatcar_gpu.node_image import image_of
from flatcar_gpu.platforms import PLATFORMS, shrunk, size_report
from flatcar_gpu.report import Report, Severity
from flatcar_gpu.rules import Subject, check
from flatcar_gpu.rules.checks import check_operator
from flatcar_gpu.spec_file import load_spec_text
from flatcar_gpu.terraform_query import is_key, read_query
from flatcar_gpu.transpile import encode, read_document

if TYPE_CHECKING:
    from flatcar_gpu.assembly import Node
    from flatcar_gpu.flatcar.access import Access
    from flatcar_gpu.flatcar.index import Release
    from flatcar_gpu.fleet import Fleet
    from flatcar_gpu.plan import Plan
    from flatcar_gpu.report import Problem
    from flatcar_gpu.spec_file import Loaded
    from flatcar_gpu.terraform_query import Query
    from flatcar_gpu.transpile import Document

_SPEC = "spec"
_SNIPPETS = "snippets"


def answer(data: bytes, access: Access) -> dict[str, str]:
    """The answer to the query in `data`. `access` is how releases are looked up where the query says nothing of that.

    Raises Failure, with every error at once where the query or its spec has some; `error_lines` shows it.
    """
    query = read_query(data, access)
    loaded = load_spec_text((_SPEC, query.spec.encode()) if query.spec else None, query.values)
    _, source = loaded.only_pool(query.pool)
    report = Report()
    fleet = plan_fleet(loaded, lambda name: _release(name, query.access, report))
    pool = next(pool for pool in fleet.pools if pool.key == source.pool)
    node = assemble(pool.plan, _documents(query))
    report.extend(check_node(node, source, query.ignored))
    ignition = _ignition(node, query, report)
    values = _helm_values(fleet, loaded, query, report)
    _conclude(report, strict=query.strict)
    return {
        "ignition": ignition,
        "butane": _normal(butane_text(node.butane)),
        "helm_values": values,
        "driver_image": _driver_image(pool.plan),
        "ignition_sha256": hashlib.sha256(ignition.encode()).hexdigest(),
        "ignition_bytes": str(len(ignition.encode())),
        "flatcar_version": pool.plan.release_name,
        "warnings": json.dumps([_line(problem) for problem in _unique(report, Severity.WARNING)]),
    }


def answer_text(answer: dict[str, str]) -> bytes:
    """An answer as Terraform reads it: compact JSON in ASCII."""
    return json.dumps(answer, separators=(",", ":")).encode() + b"\n"


def error_lines(failure: Failure) -> list[str]:
    """What is wrong, a line each, in the words of the query: `error: query.driver: ...`."""
    if isinstance(failure, InvalidInput):
        return [_line(problem) for problem in dict.fromkeys(failure.report.by_position())]
    report = Report()
    report.error(failure.message, hint=failure.hint)
    return [_line(problem) for problem in report]


def _release(name: str, access: Access, report: Report) -> Release:
    if not is_version(name):
        resolved = resolve_release(name, access)
        report.extend(resolved.report)
        return resolved.release
    try:
        # What a version is never changes: a server is asked for channels alone.
        return resolve_release(name, replace(access, offline=True)).release
    except Failure as failure:
        hint = "`flatcar-gpu releases update` fetches newer data, `flatcar-gpu releases list` shows what there is"
        raise Failure(failure.message, hint) from None


def _documents(query: Query) -> list[Document]:
    documents = [read_document(f"{_SNIPPETS}[{number}]", text.encode()) for number, text in enumerate(query.snippets)]
    report = Report([problem for document in documents for problem in document.report])
    if report.has_errors:
        raise InvalidInput(report)
    return documents


def _ignition(node: Node, query: Query, report: Report) -> str:
    data = encode(node.ignition).rstrip(b"\n")
    if query.shrink:
        data = shrunk(data, node.ignition["ignition"]["version"]).rstrip(b"\n")
    text = _normal(data)
    if platform := node.plan.spec.platform:
        report.extend(size_report(PLATFORMS[platform], text.encode(), node.ignition))
    return text


def _helm_values(fleet: Fleet, loaded: Loaded, query: Query, report: Report) -> str:
    """The operator's values; none where the image of the driver container is not known, as no others would do."""
    missing = _missing_of_image(fleet.cluster)
    if missing:
        if len(missing) == 1:
            report.warning(f"helm_values and driver_image are empty: {missing[0]} is not given")
        return ""
    found = [*check_operator(fleet.cluster, query.ignored), *check(fleet, query.ignored, Subject.FLEET)]
    report.extend(loaded.source.locate(problem) for problem in found)
    return _normal(values_text(fleet.cluster))


def _missing_of_image(plan: Plan) -> list[str]:
    image = plan.driver_image
    if image is None:
        return []
    parts = {"repository": image.repository, "driver_version": image.digest or image.version}
    return [name for name, given in parts.items() if not given]


def _driver_image(plan: Plan) -> str:
    """The reference that the nodes pull, empty where that is not certain or they pull none."""
    if plan.driver_image is None or plan.release is None or _missing_of_image(plan):
        return ""
    if plan.driver_image.precompiled and not plan.release.uname:
        return ""
    return str(image_of(plan))


def _conclude(report: Report, *, strict: bool) -> None:
    if report.has_errors or (strict and report.warning_count):
        raise InvalidInput(Report([problem for problem in report if problem.severity is not Severity.INFO]))


def _unique(report: Report, severity: Severity) -> list[Problem]:
    return list(dict.fromkeys(problem for problem in report if problem.severity is severity))


def _normal(data: bytes) -> str:
    return unicodedata.normalize("NFC", data.decode())


_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*://)(?:[^\s/]*@)?([^\s?#]*)(?:[?#][^\s'\"]*)?")
_QUOTED = re.compile(r"`[^`]*`")
_FLAG = re.compile(r"--([a-z][a-z-]*[a-z])")


def _line(problem: Problem) -> str:
    """A finding as one line of plain text, with keys of the query for options and nothing secret of a URL."""
    kind = f"{problem.severity}[{problem.rule}]" if problem.rule else str(problem.severity)
    # What the transpiler quotes of a snippet may be a password's hash; the place says enough.
    message = _QUOTED.sub("`...`", problem.message) if problem.file.startswith(_SNIPPETS) else problem.message
    parts = [kind, _place(problem), message]
    text = ": ".join(part for part in parts if part)
    if problem.hint:
        text += f"; try: {problem.hint}"
    text = _FLAG.sub(_as_key, text)
    text = " ".join(_URL.sub(r"\1\2", text).split())
    # Keys of the query stand in it as they came, and control characters would reach the terminal.
    return "".join(character if character.isprintable() else "\ufffd" for character in text)


def _as_key(flag: re.Match[str]) -> str:
    name = flag[1].replace("-", "_")
    return name if is_key(name) else flag[0]


def _place(problem: Problem) -> str:
    if problem.path.startswith("--"):
        return f"query.{problem.path.removeprefix('--')}".replace("-", "_")
    if problem.file == _SPEC:
        return f"query.{_SPEC}.{problem.path}" if problem.path else f"query.{_SPEC}"
    if problem.file:
        at = problem.position
        place = f"query.{problem.file}" + (f":{at.line}:{at.column}" if at else "")
        return f"{place}: {problem.path}" if problem.path else place
    return problem.path
