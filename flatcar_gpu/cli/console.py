"""Everything the program says on stderr, and how."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

import click

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flatcar_gpu.errors import Failure
    from flatcar_gpu.report import Report


class Console:
    """How to speak to the user; the common options set the attributes."""

    # Not a dataclass: making one takes a measurable part of the time to start.
    def __init__(self) -> None:
        self.verbose = 0
        self.quiet = False
        self.color = "auto"
        self.error_format = "text"
        self.debug = False
        self._held: Report | None = None
        self._held_sources: dict[str, str] = {}

    def colored(self, stream: TextIO) -> bool:
        """Whether `stream` gets colour: --color, NO_COLOR, FORCE_COLOR, then whether it is a terminal."""
        if self.color != "auto":
            return self.color in ("always", "yes")
        if os.environ.get("NO_COLOR"):
            return False
        if os.environ.get("FORCE_COLOR"):
            return True
        return os.environ.get("TERM") != "dumb" and stream.isatty()

    def note(self, text: str, level: int = 1) -> None:
        """Say `text` if the user asked for that much with -v."""
        if self.verbose >= level and not self.quiet:
            self._write(text + "\n")

    def error(self, text: str, hint: str = "") -> None:
        """Say that something failed, outside any report."""
        from flatcar_gpu.report import Report

        report = Report()
        report.error(text, hint=hint)
        self.report(report)

    def report(self, report: Report, sources: Mapping[str, str] | None = None) -> None:
        """Show findings; with --quiet only the errors."""
        from flatcar_gpu.report import Report, Severity

        if self._held is not None:
            self._held.extend(report)
            self._held_sources.update(sources or {})
            return
        if self.quiet:
            report = Report([problem for problem in report if problem.severity is Severity.ERROR])
        if not len(report):
            return
        if self.error_format == "json":
            import json

            self._write(json.dumps(report.as_dict(), ensure_ascii=False, indent=2) + "\n")
        else:
            self._write(report.as_text(sources, color=self.colored(sys.stderr)))

    @contextmanager
    def one_report(self) -> Iterator[None]:
        """Show everything that the block reports as one report at its end, so that it is one JSON document, too."""
        from flatcar_gpu.report import Report

        held = self._held = Report()
        try:
            yield
        finally:
            self._held = None
            self.report(held, self._held_sources)

    def failure(self, failure: Failure) -> None:
        """Show an expected failure: its report if it carries one, else its message and hint."""
        from flatcar_gpu.errors import InvalidInput

        if self.debug:
            self._traceback(failure)
        if isinstance(failure, InvalidInput):
            self.report(failure.report, failure.sources)
        else:
            self.error(failure.message, failure.hint)

    def click_error(self, error: click.ClickException) -> None:
        """Show a usage error as Click does: the usage line, then what is wrong."""
        if self.error_format == "json" or not isinstance(error, click.UsageError):
            self.error(error.format_message())
        else:
            error.show(file=sys.stderr)

    def defect(self, error: Exception) -> None:
        """Show an error that nobody foresaw: without --debug a line that says how to report it, never a traceback."""
        if self.debug:
            self._traceback(error)
        self.error(
            f"this is a defect of flatcar-gpu: {type(error).__name__}: {error}",
            hint="run it again with --debug and report what it prints",
        )

    def drop_stdout(self) -> None:
        """Forget what is still unwritten: the reader of stdout has gone (`| head`)."""
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

    def _traceback(self, error: Exception) -> None:
        import traceback

        self._write("".join(traceback.format_exception(error)))

    def _write(self, text: str) -> None:
        # Source lines may hold bytes that the terminal's encoding lacks; they must not turn a report into a crash.
        encoding = sys.stderr.encoding or "utf-8"
        sys.stderr.write(text.encode(encoding, "backslashreplace").decode(encoding))
        sys.stderr.flush()
