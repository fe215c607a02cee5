"""A spec from its file, its flags or both, and where each of its values was given."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from flatcar_gpu.errors import InvalidInput
from flatcar_gpu.files import read_input
from flatcar_gpu.report import Report
from flatcar_gpu.spec import Spec, form_problems, settings, with_values

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flatcar_gpu.report import Position, Problem


@dataclass(frozen=True, slots=True)
class SpecSource:
    """Where a spec came from: the file (empty for flags alone), its text, and the place of each key in it."""

    file: str = ""
    text: str = ""
    values: Mapping[str, Position] | None = None
    given_as_flags: frozenset[str] = frozenset()

    def locate(self, problem: Problem) -> Problem:
        """`problem` with the place of its key in the file, or with the flag that gave the value.

        Problems of the finished config (`$.storage…`) and those that name a file have no place here.
        """
        if problem.file or problem.path.startswith("$"):
            return problem
        if problem.path in self.given_as_flags or not self.file:
            key = problem.path if problem.path in settings() else problem.path.rpartition(".")[0]
            flag = settings()[key].flag.split("/")[0] if key in settings() else ""
            return replace(problem, path=flag or problem.path)
        position = self._nearest(problem.path)
        return replace(problem, file=self.file, position=position)

    def _nearest(self, key: str) -> Position | None:
        """The place of the value at `key`, or of the section around it where the key is not written."""
        places = self.values or {}
        while key and key not in places:
            key = key.rpartition(".")[0]
        return places.get(key)

    @property
    def sources(self) -> dict[str, str]:
        return {self.file: self.text} if self.file else {}


def load_spec(path: str | None, flags: Mapping[str, Any]) -> tuple[Spec, SpecSource]:
    """The spec in the file at `path` (`-` is stdin, None is an empty spec), with the values of `flags` on top.

    Raises InvalidInput with every error at once, Failure where the file cannot be read.
    """
    spec, source, report = Spec(), SpecSource(given_as_flags=frozenset(flags)), Report()
    if path is not None:
        # Imported late: YAML and pydantic cost more start-up time than everything else together.
        from flatcar_gpu.spec_reader import read_spec
        from flatcar_gpu.yaml_positions import YamlDocument

        document = YamlDocument(*read_input(path))
        spec = read_spec(document)
        source = SpecSource(document.name, document.text, document.values, frozenset(flags))
        report = document.report
    spec = with_values(spec, flags)
    report.extend(source.locate(problem) for problem in form_problems(spec))
    if report.has_errors:
        raise InvalidInput(report.by_position(), source.sources)
    return spec, source
