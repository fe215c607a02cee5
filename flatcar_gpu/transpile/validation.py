"""Checking an Ignition config that is there already, whoever made it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flatcar_gpu.report import Position, Problem, Report
from flatcar_gpu.transpile import messages
from flatcar_gpu.transpile.encode import encode
from flatcar_gpu.transpile.header import canonical_version
from flatcar_gpu.transpile.hints import HINTED, closest, struct_at
from flatcar_gpu.transpile.ignition_json import JsonTypeError, check_config, decode_ignition
from flatcar_gpu.transpile.ignition_rules import Check, Spec
from flatcar_gpu.transpile.json_tree import JsonError, read_json
from flatcar_gpu.transpile.paths import Path, Places, finding_position, node_at, position, shown
from flatcar_gpu.transpile.schema import VERSIONS, Schema, schema
from flatcar_gpu.transpile.syntax_tree import AnyNode, Mapping, Scalar, Sequence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flatcar_gpu.transpile.translation import Finding

_BY_SPEC = {version.ignition: version.name for version in VERSIONS.values()}
# Specs without a flatcar version of their own, and the tables that have all of their keys: 3.3 added to those before
# it, 3.5 added `cex` and 3.6 nothing. Source: coreos/ignition config/v3_*/schema/ignition.json.
_OTHERS = {
    "3.0.0": "1.0.0",
    "3.1.0": "1.0.0",
    "3.2.0": "1.0.0",
    "3.5.0": "1.2.0-experimental",
    "3.6.0": "1.2.0-experimental",
}
_KNOWN = ", ".join(sorted((*_BY_SPEC, *_OTHERS)))


@dataclass(frozen=True, slots=True)
class Validation:
    """What was found in an Ignition config."""

    report: Report
    version: str = ""
    """The Ignition version that the config names, as far as it is one that is known here."""
    all_rules: bool = False
    """Whether every rule of Ignition for that version was applied, or only structure and what all versions share."""

    config: Any = None
    """The config as a tree in the order of Ignition's JSON; None where the text holds none."""
    places: Places | None = None
    """Where the parts of `config` stand in the text."""

    @property
    def rules(self) -> str:
        """Which rules were applied, in words; empty if the version is not known."""
        if not self.version:
            return ""
        extent = (
            "all rules of Ignition 2.26" if self.all_rules else "structure and the rules that all 3.x versions share"
        )
        return f"{extent} for {self.version}"


def validate_ignition(config: bytes | dict[str, Any]) -> Validation:
    """Check an Ignition config of any version 3.x: JSON text, or a tree, for which places in the text are left out.

    Findings have Ignition's messages and paths (`$.storage.files.0.path`).
    """
    text = config if isinstance(config, bytes) else encode(config)
    validation = _validate(text)
    if isinstance(config, bytes):
        return validation
    problems = [Problem(p.severity, p.message, p.path, hint=p.hint) for p in validation.report]
    return Validation(Report(problems), validation.version, validation.all_rules)


def _validate(text: bytes) -> Validation:
    report = Report()
    try:
        root = read_json(text)
    except JsonError as error:
        report.error(str(error), position=Position(error.line, error.column), hint=_not_json(text))
        return Validation(report)
    named = _named_version(root)
    version = canonical_version(named) or ""
    if version not in _BY_SPEC and version not in _OTHERS:
        message = messages.OTHER_IGNITION_VERSION if version else messages.BAD_IGNITION_VERSION
        here = ("ignition", "version")
        report.error(message, path=shown(here), position=position(root, here), hint=_version_hint(version))
        return Validation(report)
    tables = schema(_BY_SPEC.get(version) or _OTHERS[version])
    check = Check(spec=Spec.of(version))
    try:
        tree = decode_ignition(root, tables.config)
    except JsonTypeError as error:
        report.error(str(error), path=shown(error.path), position=position(error.node, ()))
        return Validation(report, version, version in _BY_SPEC)
    check_config(root, tree, tables.config, check)
    for number, finding in enumerate(check.found):
        at = finding_position(finding, root)
        way_out = _hint(finding, root, tables) if number < HINTED else ""
        report.add(Problem(finding.severity, finding.message, shown(finding.path), at, hint=way_out))
    for path, key in _repeated_keys(root):
        message = f"key {key.value} is set more than once, only the last one counts"
        report.warning(message, path=shown((*path, key.value)), position=Position(key.line, key.column))
    return Validation(report, version, version in _BY_SPEC, tree, Places(root, lambda path: path))


def _named_version(root: AnyNode) -> str:
    node = node_at(root, ("ignition", "version"))
    return node.value if isinstance(node, Scalar) and node is not root else ""


def _version_hint(version: str) -> str:
    if version.startswith(("1.", "2.")):
        return "configs of Ignition 1 and 2 have another structure; write it anew as Butane"
    return f"set ignition.version to one of {_KNOWN}"


def _not_json(text: bytes) -> str:
    if re.match(rb"(#|---|variant:|version:|ignition:)", text.lstrip()):
        return "this looks like Butane (YAML): give the file the ending .bu, or transpile it first"
    return ""


def _hint(finding: Finding, root: AnyNode, tables: Schema) -> str:
    if finding.message == messages.DUPLICATE and finding.related:
        first = position(root, finding.related)
        place = f", line {first.line} column {first.column}" if first else ""
        return f"the first one is {shown(finding.related)}{place}"
    if finding.key is None:
        return ""
    struct = struct_at(finding.path[:-1], tables, ignition=True)
    close = closest(str(finding.path[-1]), struct.ignition) if struct else ""
    return f"did you mean {close}?" if close else ""


def _repeated_keys(root: AnyNode) -> Iterator[tuple[Path, Scalar]]:
    waiting: list[tuple[Path, AnyNode]] = [((), root)]
    while waiting:
        path, node = waiting.pop()
        if isinstance(node, Sequence):
            waiting += [((*path, index), item) for index, item in enumerate(node.content)]
        if not isinstance(node, Mapping):
            continue
        seen: set[str] = set()
        for key, member in zip(node.content[::2], node.content[1::2], strict=True):
            if not isinstance(key, Scalar):
                continue
            if key.value in seen:
                yield path, key
            seen.add(key.value)
            waiting.append(((*path, key.value), member))
