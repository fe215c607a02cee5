"""The way from a Butane text to an Ignition text, stage by stage, in Butane's order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flatcar_gpu.report import Problem, Report
from flatcar_gpu.transpile import messages
from flatcar_gpu.transpile.decode import decode
from flatcar_gpu.transpile.encode import encode
from flatcar_gpu.transpile.field_filter import refuse_fields
from flatcar_gpu.transpile.header import NoTranslator, find_schema
from flatcar_gpu.transpile.ignition_rules import Spec, apply_rules, find_duplicates
from flatcar_gpu.transpile.local_files import LocalFiles
from flatcar_gpu.transpile.paths import Path, position, shown
from flatcar_gpu.transpile.python_tree import nodes
from flatcar_gpu.transpile.schema import butane_names
from flatcar_gpu.transpile.source_rules import check_source
from flatcar_gpu.transpile.translate import translate
from flatcar_gpu.transpile.translation import Finding, Findings, Origins
from flatcar_gpu.transpile.unused_keys import find_unused_keys
from flatcar_gpu.transpile.yaml_tree import AnyNode, YamlError, compose

if TYPE_CHECKING:
    from collections.abc import Mapping


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
    try:
        root = compose(source)
    except YamlError as error:
        return _failed(f"Error unmarshaling yaml: {error}")
    return _translated(root, LocalFiles(files_dir, follow_outside=follow_outside), pretty)


def transpile_tree(
    config: Mapping[str, Any], *, files_dir: str | None = None, pretty: bool = False, follow_outside: bool = True
) -> Result:
    """Translate Python data in the shape of a Butane document, as `transpile` does the YAML of it."""
    try:
        root = nodes(config)
    except YamlError as error:
        return _failed(f"Error unmarshaling yaml: {error}")
    return _translated(root, LocalFiles(files_dir, follow_outside=follow_outside), pretty)


def _failed(failure: str, report: Report | None = None) -> Result:
    return Result(None, report or Report(), failure)


def _translated(root: AnyNode | None, files: LocalFiles, pretty: bool) -> Result:
    try:
        schema = find_schema(root)
    except YamlError as error:
        return _failed(f"Error unmarshaling yaml: {error}")
    except NoTranslator as error:
        return _failed(str(error))
    try:
        butane, regular = decode(root, schema.butane)
    except YamlError as error:
        return _failed(str(error))
    findings = Findings()
    if not regular:
        find_unused_keys(root, butane, schema.config, findings)
    check_source(butane, schema, findings)
    if findings.has_errors:
        return _failed(messages.SOURCE_INVALID, _report(findings, root))
    translation = translate(butane, schema, files)
    findings.found += translation.findings.found
    if not findings.has_errors:
        refuse_fields(translation.config, schema, findings)
    if findings.has_errors:
        return _failed(messages.SOURCE_INVALID, _report(findings, root))
    checked = Findings()
    find_duplicates(translation.config, schema.config, checked)
    apply_rules(translation.config, schema.config, Spec.of(schema.version.ignition), checked)
    findings.found += [_in_butane(finding, translation.origins) for finding in checked.found]
    report = _report(findings, root)
    if report.has_errors:
        return _failed(messages.RESULT_INVALID, report)
    return Result(encode(translation.config, pretty), report, config=translation.config)


def _in_butane(finding: Finding, origins: Origins) -> Finding:
    """The same of the place in the Butane config that the place in the Ignition config came from."""
    names = butane_names()
    path: Path = tuple(names.get(part, part) if isinstance(part, str) else part for part in finding.path)
    return Finding(finding.severity, origins.source(path) or path, finding.message)


def _report(findings: Findings, root: AnyNode | None) -> Report:
    return Report(
        [
            Problem(
                finding.severity,
                finding.message,
                shown(finding.path),
                position(root, finding.path, key=finding.at_key),
            )
            for finding in findings.found
        ]
    )


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
