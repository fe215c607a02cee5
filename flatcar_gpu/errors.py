"""The few exceptions of the project. Only `flatcar_gpu.cli` turns them into exit codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flatcar_gpu.report import Report


class Failure(Exception):
    """Something the user can act on went wrong.

    `hint` says what to do about it; it may be empty where nothing better than the message is known.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class InvalidInput(Failure):
    """What the user gave has errors; `report` holds all of them, `sources` the text of the files they point into."""

    def __init__(self, report: Report, sources: Mapping[str, str] | None = None) -> None:
        super().__init__(f"{report.error_count} error(s) found")
        self.report = report
        self.sources = sources or {}


class Unavailable(Failure):
    """A network service did not answer, or not with what was asked for, after all retries."""
