"""Problems found in what the user gave, and how they are shown as text and as JSON."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

STDIN = "<stdin>"


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a text. Lines and columns count from 1, columns in characters."""

    line: int
    column: int
    end_column: int | None = None
    """First column behind the marked text on the same line; None marks up to the next white space."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One finding.

    `path` is the key it is about (`driver.version`, `$.storage.files.0.mode`), `rule` the id of the compatibility
    rule that found it, `file` the name to show for the input (empty where there is no file, as with flags).
    """

    severity: Severity
    message: str
    path: str = ""
    position: Position | None = None
    file: str = ""
    rule: str = ""
    hint: str = ""


@dataclass(slots=True)
class Report:
    """Problems in the order they were found."""

    problems: list[Problem] = field(default_factory=list)

    def __iter__(self) -> Iterator[Problem]:
        return iter(self.problems)

    def __len__(self) -> int:
        return len(self.problems)

    def add(self, problem: Problem) -> None:
        self.problems.append(problem)

    def error(
        self, message: str, *, path: str = "", position: Position | None = None, rule: str = "", hint: str = ""
    ) -> None:
        self.add(Problem(Severity.ERROR, message, path, position, rule=rule, hint=hint))

    def warning(
        self, message: str, *, path: str = "", position: Position | None = None, rule: str = "", hint: str = ""
    ) -> None:
        self.add(Problem(Severity.WARNING, message, path, position, rule=rule, hint=hint))

    def extend(self, problems: Iterable[Problem]) -> None:
        self.problems.extend(problems)

    @property
    def error_count(self) -> int:
        return sum(problem.severity is Severity.ERROR for problem in self.problems)

    @property
    def warning_count(self) -> int:
        return sum(problem.severity is Severity.WARNING for problem in self.problems)

    @property
    def has_errors(self) -> bool:
        return any(problem.severity is Severity.ERROR for problem in self.problems)

    def in_file(self, file: str) -> Report:
        """The same problems, said of `file` where they name no file yet."""
        return Report([problem if problem.file else replace(problem, file=file) for problem in self.problems])

    def by_position(self) -> Report:
        """The same problems, file by file in order of first mention, each file's in order of position."""
        files = list(dict.fromkeys(problem.file for problem in self.problems))

        def place(problem: Problem) -> tuple[int, int, int]:
            at = problem.position
            return (files.index(problem.file), at.line if at else 0, at.column if at else 0)

        return Report(sorted(self.problems, key=place))

    def as_text(self, sources: Mapping[str, str] | None = None, *, color: bool = False) -> str:
        """The report for people: one block a problem, with the source line where `sources` has the file's text."""
        texts = {name: text.split("\n") for name, text in (sources or {}).items()}
        return "".join(_block(problem, texts.get(problem.file, []), color) for problem in self.by_position())

    def as_dict(self) -> dict[str, object]:
        """The report for machines, shaped like `terraform validate -json`."""
        return {
            "format_version": "1.0",
            "valid": not self.has_errors,
            "error_count": self.error_count,
            "warning_count": self.warning_count,
            "diagnostics": [_diagnostic(problem) for problem in self.by_position()],
        }


_STYLES = {Severity.ERROR: "1;31", Severity.WARNING: "1;33", Severity.INFO: "1;36"}
_QUIET_STYLE = "1;34"
WIDTH = 120


def _styled(text: str, style: str, color: bool) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if color else text


def _block(problem: Problem, lines: list[str], color: bool) -> str:
    at = problem.position
    where = ":".join([problem.file, *([str(at.line), str(at.column)] if at else [])]) if problem.file else ""
    kind = f"{problem.severity}[{problem.rule}]" if problem.rule else str(problem.severity)
    head = [where, _styled(kind, _STYLES[problem.severity], color), problem.path, problem.message]
    text = ": ".join(part for part in head if part) + "\n"
    if at and at.line <= len(lines):
        text += _excerpt(lines[at.line - 1].rstrip("\r"), at, color)
    if problem.hint:
        more = f"        (flatcar-gpu explain {problem.rule})" if problem.rule else ""
        text += f"  try: {problem.hint}{more}\n"
    return text


def _excerpt(line: str, at: Position, color: bool) -> str:
    number = str(at.line)
    # Of a line too wide for a terminal, such as compact JSON, only the part around the marked text is shown.
    start = max(0, at.column - 1 - WIDTH // 2) if len(line) > WIDTH else 0
    column = at.column - 1 - start
    line = line[start : start + WIDTH]
    marked = line[column:] if at.end_column is None else line[column : at.end_column - 1 - start]
    words = marked.split(maxsplit=1)
    length = len(words[0]) if at.end_column is None and words else len(marked)
    # Tabs stay tabs below the line, so that the carets stand where the terminal put the text.
    indent = "".join("\t" if character == "\t" else " " for character in line[:column])
    carets = "^" * max(1, length)
    bar = _styled("|", _QUIET_STYLE, color)
    shown = _styled(number, _QUIET_STYLE, color)
    marks = _styled(carets, _STYLES[Severity.ERROR], color)
    return f"  {shown} {bar} {line}\n  {' ' * len(number)} {bar} {indent}{marks}\n"


def _diagnostic(problem: Problem) -> dict[str, object]:
    shown: dict[str, object] = {"severity": str(problem.severity), "summary": problem.message}
    for key in ("path", "rule", "hint", "file"):
        if value := getattr(problem, key):
            shown[key] = value
    if at := problem.position:
        shown["range"] = {"start": {"line": at.line, "column": at.column}}
    return shown
