"""The way from a Butane text to an Ignition text, stage by stage, in Butane's order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flatcar_gpu.report import Problem, Report
from flatcar_gpu.transpile import messages
from flatcar_gpu.transpile.decode import decode
from flatcar_gpu.transpile.encode import encode
from flatcar_gpu.transpile.header import NoTranslator, find_schema
from flatcar_gpu.transpile.local_files import LocalFiles
from flatcar_gpu.transpile.paths import position, shown
from flatcar_gpu.transpile.python_tree import nodes
from flatcar_gpu.transpile.schema import Kind, Type
from flatcar_gpu.transpile.translate import translate
from flatcar_gpu.transpile.yaml_tree import AnyNode, YamlError, compose

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a Butane config."""

    ignition: bytes | None
    """The Ignition config as JSON with one LF at its end; None when it failed."""
    report: Report
    failure: str = ""
    """How Butane closes the report of a config that failed; empty when it did not."""
    config: Any = None
    """The Ignition config as dicts and lists in the order of the JSON; None when it failed."""


def transpile(source: bytes, *, files_dir: str | None = None, pretty: bool = False) -> Result:
    """Translate the Butane config `source` (YAML) to Ignition."""
    try:
        root = compose(source)
    except YamlError as error:
        return Result(None, Report(), f"Error unmarshaling yaml: {error}")
    return _translated(root, files_dir, pretty)


def transpile_tree(config: Mapping[str, Any], *, files_dir: str | None = None, pretty: bool = False) -> Result:
    """Translate Python data in the shape of a Butane document, as `transpile` does its YAML."""
    try:
        root = nodes(config)
    except YamlError as error:
        return Result(None, Report(), f"Error unmarshaling yaml: {error}")
    return _translated(root, files_dir, pretty)


def _translated(root: AnyNode | None, files_dir: str | None, pretty: bool) -> Result:
    try:
        schema = find_schema(root)
    except YamlError as error:
        return Result(None, Report(), f"Error unmarshaling yaml: {error}")
    except NoTranslator as error:
        return Result(None, Report(), str(error))
    try:
        butane, _ = decode(root, Type(Kind.OBJECT, "Config", schema.config))
    except YamlError as error:
        return Result(None, Report(), str(error))
    translation = translate(butane, schema, LocalFiles(files_dir))
    report = Report()
    for finding in translation.findings.found:
        report.add(Problem(finding.severity, finding.message, shown(finding.path), position(root, finding.path)))
    if report.has_errors:
        return Result(None, report, messages.SOURCE_INVALID)
    return Result(encode(translation.config, pretty), report, "", translation.config)
