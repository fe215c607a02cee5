"""The way from a Butane text to an Ignition text, stage by stage, in Butane's order."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from flatcar_gpu.report import Position, Problem, Report, Severity
from flatcar_gpu.transpile import hints, messages
from flatcar_gpu.transpile.decode import TypeErrors, decode
from flatcar_gpu.transpile.encode import encode
from flatcar_gpu.transpile.fcos import refuse_own_parts
from flatcar_gpu.transpile.field_filter import refuse_fields
from flatcar_gpu.transpile.header import VARIANT, NoTranslator, find_schema
from flatcar_gpu.transpile.ignition_rules import Check, Spec, apply_rules, find_duplicates
from flatcar_gpu.transpile.local_files import LocalFiles
from flatcar_gpu.transpile.paths import Path, Places, finding_position, position, shown
from flatcar_gpu.transpile.python_tree import nodes
from flatcar_gpu.transpile.schema import butane_names
from flatcar_gpu.transpile.source_rules import SourceCheck, check_source
from flatcar_gpu.transpile.syntax_tree import AnyNode, YamlError
from flatcar_gpu.transpile.translate import translate
from flatcar_gpu.transpile.translation import Finding, Findings, Origins
from flatcar_gpu.transpile.unused_keys import find_unused_keys

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flatcar_gpu.transpile.schema import Schema


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a Butane config."""

    ignition: bytes | None
    """The Ignition config as JSON with one LF at its end; None when it failed."""
    report: Report
    """What Butane reports, in Butane's order and words; hints are ours."""
    failure: str = ""
    """How Butane closes the report of a config that failed; empty when it did not."""
    config: Any = None
    """The Ignition config as dicts and lists in the order of the JSON; None when it failed."""
    notes: Report = field(default_factory=Report)
    """What Butane does not report by itself: places of YAML errors, and findings of the severity info."""

    places: Places | None = None
    """Where the parts of `config` stand in the source; None when it failed."""

    @property
    def findings(self) -> Report:
        """Report and notes together."""
        return Report([*self.report, *self.notes])


def transpile(
    source: bytes, *, files_dir: str | None = None, pretty: bool = False, follow_outside: bool = True
) -> Result:
    """Translate the Butane config `source` (YAML) to Ignition.

    Local files are read below `files_dir`; with `follow_outside=False` symbolic links that lead out of it are refused.
    Never raises for anything in the config or the files: what is wrong is in the result.
    """
    from flatcar_gpu.transpile.yaml_tree import compose  # late: trees from Python need no YAML parser

    try:
        root = compose(source)
    except YamlError as error:
        return _not_yaml(error)
    return _translated(root, LocalFiles(files_dir, follow_outside=follow_outside), pretty)


def transpile_tree(
    config: Mapping[str, Any], *, files_dir: str | None = None, pretty: bool = False, follow_outside: bool = True
) -> Result:
    """Translate Python data in the shape of a Butane document, as `transpile` does the YAML of it."""
    try:
        root = nodes(config)
    except YamlError as error:
        return _not_yaml(error)
    return _translated(root, LocalFiles(files_dir, follow_outside=follow_outside), pretty)


def _translated(root: AnyNode | None, files: LocalFiles, pretty: bool) -> Result:
    try:
        schema = find_schema(root)
    except YamlError as error:
        return _not_yaml(error)
    except NoTranslator as error:
        return _no_translator(error, root)
    try:
        butane, regular = decode(root, schema.butane)
    except YamlError as error:
        return _not_yaml(error, prefix="")
    findings = SourceCheck(schema=schema)
    if not regular:
        find_unused_keys(root, butane, schema.config, findings)
    check_source(butane, findings)
    if schema.is_fcos:
        refuse_own_parts(root, butane, findings)
    if findings.has_errors:
        return _result(findings, root, schema, messages.SOURCE_INVALID)
    translation = translate(butane, schema, files)
    findings.found += translation.findings.found
    if not findings.has_errors and not schema.is_fcos:
        refuse_fields(translation.config, schema, findings)
    if findings.has_errors:
        return _result(findings, root, schema, messages.SOURCE_INVALID)
    checked = Check(spec=Spec.of(schema.version.ignition))
    find_duplicates(translation.config, schema.config, checked)
    apply_rules(translation.config, schema.config, checked)
    findings.found += [_in_butane(finding, translation.origins) for finding in checked.found]
    if checked.has_errors:
        return _result(findings, root, schema, messages.RESULT_INVALID)
    result = _result(findings, root, schema)
    places = Places(root, partial(_butane_path, origins=translation.origins))
    return replace(result, ignition=encode(translation.config, pretty), config=translation.config, places=places)


def _in_butane(finding: Finding, origins: Origins) -> Finding:
    """The same of the place in the Butane config that the place in the Ignition config came from."""
    path, related = (_butane_path(path, origins) for path in (finding.path, finding.related))
    return Finding(finding.severity, path, finding.message, related=related)


def _butane_path(path: Path, origins: Origins) -> Path:
    names = butane_names()
    spelt: Path = tuple(names.get(part, part) if isinstance(part, str) else part for part in path)
    return origins.source(spelt) or spelt


def _result(findings: Findings, root: AnyNode | None, schema: Schema, failure: str = "") -> Result:
    report, notes = Report(), Report()
    for number, finding in enumerate(findings.found):
        at = finding_position(finding, root)
        way_out = hints.hint(finding, root, schema) if number < hints.HINTED else ""
        problem = Problem(finding.severity, finding.message, shown(finding.path), at, hint=way_out)
        (notes if finding.severity is Severity.INFO else report).add(problem)
    return Result(None, report, failure, notes=notes)


def _not_yaml(error: YamlError, prefix: str = "Error unmarshaling yaml: ") -> Result:
    notes = Report()
    if isinstance(error, TypeErrors):
        for wrong in error.errors:
            way_out = hints.type_hint(wrong.text)
            notes.error(wrong.text, position=position(wrong.node, ()), hint=way_out)
    else:
        at = Position(error.line, error.column or 1) if error.line else None
        notes.error(error.problem, position=at, hint=hints.yaml_hint(error.problem))
    return Result(None, Report(), f"{prefix}{error}", notes=notes)


def _no_translator(error: NoTranslator, root: AnyNode | None) -> Result:
    notes = Report()
    path: Path = ("version",) if error.variant == VARIANT else ("variant",)
    notes.error(
        str(error), path=shown(path), position=position(root, path), hint=hints.translator_hint(root, error.variant)
    )
    return Result(None, Report(), str(error), notes=notes)


def raw_report(result: Result, *, strict: bool = False) -> str:
    """The report as `butane --raw-errors` prints it."""
    lines = [_raw(problem) for problem in result.report]
    if result.failure:
        lines.append(f"Error translating config: {result.failure}")
    elif strict and len(result.report):
        lines.append("Config produced warnings and --strict was specified")
    return "".join(line + "\n" for line in lines)


def _raw(problem: Problem) -> str:
    at = f"line {problem.position.line} col {problem.position.column}" if problem.position else ""
    where = ", ".join(part for part in (problem.path, at) if part)
    return f"{problem.severity}{' at ' if where else ''}{where}: {problem.message}"
