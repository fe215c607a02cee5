"""A translation under way: the Ignition tree so far, what was found, and which part came from where."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flatcar_gpu.report import Severity

if TYPE_CHECKING:
    from flatcar_gpu.transpile.local_files import LocalFiles
    from flatcar_gpu.transpile.paths import Path
    from flatcar_gpu.transpile.schema import Schema
    from flatcar_gpu.transpile.syntax_tree import AnyNode

Tree = dict[str, Any]


@dataclass(slots=True)
class Finding:
    """What a rule has to say of one place, before it is known where that stands in the text."""

    severity: Severity
    path: Path
    message: str
    key: AnyNode | None = None
    """The key that is meant, where it is not its value."""
    related: Path = ()
    """The other place that has to do with it, such as the first of two duplicates."""


@dataclass(slots=True)
class Findings:
    found: list[Finding] = field(default_factory=list)

    def error(self, path: Path, message: str, *, related: Path = ()) -> None:
        self.found.append(Finding(Severity.ERROR, path, message, related=related))

    def warning(self, path: Path, message: str, *, key: AnyNode | None = None) -> None:
        self.found.append(Finding(Severity.WARNING, path, message, key))

    def note(self, path: Path, message: str) -> None:
        """Say what Butane does not."""
        self.found.append(Finding(Severity.INFO, path, message))

    @property
    def has_errors(self) -> bool:
        return any(finding.severity is Severity.ERROR for finding in self.found)


@dataclass(slots=True)
class Origins:
    """Where parts of the Ignition tree come from, if not from the key of the same name.

    `moved` maps the path of a part to that of its source, deeper paths continuing below it; `whole` maps a part, with
    all that is in it, to the one place that brought it forth.
    """

    moved: dict[Path, Path] = field(default_factory=dict)
    whole: dict[Path, Path] = field(default_factory=dict)

    def source(self, path: Path) -> Path | None:
        """The source of the part at `path`, None for the key of the same name."""
        for end in range(len(path), 0, -1):
            head = path[:end]
            if head in self.whole:
                return self.whole[head]
            if head in self.moved:
                return self.moved[head] + path[end:]
        return None


@dataclass(slots=True)
class Translation:
    schema: Schema
    files: LocalFiles
    config: Tree = field(default_factory=dict)
    """The Ignition tree."""
    origins: Origins = field(default_factory=Origins)
    findings: Findings = field(default_factory=Findings)
