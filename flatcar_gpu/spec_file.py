"""A spec from its file, its flags or both, and where each of its values was given."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from flatcar_gpu.errors import Failure, InvalidInput
from flatcar_gpu.files import read_input
from flatcar_gpu.report import Report
from flatcar_gpu.settings import form_problems, settings, with_values
from flatcar_gpu.spec import Spec

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flatcar_gpu.report import Position, Problem


@dataclass(frozen=True, slots=True)
class SpecSource:
    """Where a spec came from: the file (empty for flags alone), its text, and the place of each key in it.

    `pool` is the key of the pool (`pools.2`) whose spec it is.
    """

    file: str = ""
    text: str = ""
    values: Mapping[str, Position] | None = None
    given_as_flags: frozenset[str] = frozenset()
    pool: str = ""

    def locate(self, problem: Problem) -> Problem:
        """`problem` with the place of its key in the file, or with the flag that gave the value.

        Problems of the finished config (`$.storage…`) and those that name a file have no place here.
        """
        if problem.file or problem.path.startswith("$"):
            return problem
        # Of a list the path names an item.
        key = problem.path if problem.path in settings() else problem.path.rpartition(".")[0]
        if key in self.given_as_flags or not self.file:
            flag = settings()[key].flag.split("/")[0] if key in settings() else ""
            return replace(problem, path=flag or problem.path)
        key, position = self._place(problem.path)
        return replace(problem, path=key, file=self.file, position=position)

    def _place(self, key: str) -> tuple[str, Position | None]:
        """The key as the file has it, and where its value is, or the section around it where it is not written.

        A pool's own words come first, then those of the spec for all pools, then the pool as a whole.
        """
        places = self.values or {}
        if self.pool:
            own = f"{self.pool}.{key}"
            if own in places:
                return own, places[own]
            if key not in places:
                return own, places[next(section for section in _and_above(own) if section in places)]
        return key, next((places[section] for section in _and_above(key) if section in places), None)

    @property
    def sources(self) -> dict[str, str]:
        return {self.file: self.text} if self.file else {}


def _and_above(key: str) -> Iterator[str]:
    while key:
        yield key
        key = key.rpartition(".")[0]


@dataclass(frozen=True, slots=True)
class Pool:
    """A pool of nodes: its spec with nothing left to the spec of all, and what Kubernetes is to know of the nodes."""

    name: str
    spec: Spec
    source: SpecSource
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Loaded:
    """A spec file with flags on top: what it says of all nodes, and its pools."""

    spec: Spec
    source: SpecSource
    pools: tuple[Pool, ...] = ()

    def only_pool(self, name: str | None) -> tuple[Spec, SpecSource]:
        """The spec of the pool `name`, of the only pool, or of all nodes where there are no pools.

        Raises Failure where there is no such pool, or where one has to be chosen.
        """
        names = ", ".join(pool.name for pool in self.pools[:20])
        if name is None and len(self.pools) > 1:
            raise Failure("the spec has several pools, and this is about one node", hint=f"choose with --pool: {names}")
        if name is None and not self.pools:
            return self.spec, self.source
        for pool in self.pools:
            if name in (None, pool.name):
                return pool.spec, pool.source
        raise Failure(f"the spec has no pool {name!r}", hint=f"its pools are {names}" if names else "it has no pools")


def load_spec(path: str | None, flags: Mapping[str, Any]) -> Loaded:
    """The spec in the file at `path` (`-` is stdin, None is an empty spec), with the values of `flags` on top.

    Raises InvalidInput with every error at once, Failure where the file cannot be read.
    """
    return load_spec_text(None if path is None else read_input(path), flags)


def load_spec_text(text: tuple[str, bytes] | None, flags: Mapping[str, Any]) -> Loaded:
    """Like `load_spec` of a spec that is already read: the name to show for it, and its YAML or JSON."""
    if text is None:
        return _checked(Spec(), [], SpecSource(given_as_flags=frozenset(flags)), flags, Report())
    # Imported late: YAML and pydantic cost more start-up time than everything else together.
    from flatcar_gpu.spec_reader import read_spec
    from flatcar_gpu.yaml_positions import YamlDocument

    document = YamlDocument(*text)
    spec, pools = read_spec(document)
    source = SpecSource(document.name, document.text, document.values, frozenset(flags))
    return _checked(spec, pools, source, flags, document.report)


def _checked(spec: Spec, of_pools: list[Spec], source: SpecSource, flags: Mapping[str, Any], report: Report) -> Loaded:
    spec = with_values(spec, flags)
    found = [source.locate(problem) for problem in form_problems(spec)]
    pools = []
    for index, (pool, own) in enumerate(zip(spec.pools, of_pools, strict=True)):
        place = replace(source, pool=f"pools.{index}")
        pools.append(Pool(pool.name, with_values(own, flags), place, pool.labels, pool.taints))
        found += [place.locate(problem) for problem in form_problems(pools[-1].spec)]
    # What the spec says wrong of all pools is found once in each.
    report.extend(dict.fromkeys(found))
    report.extend(_pool_problems(pools))
    if report.has_errors:
        raise InvalidInput(report.by_position(), source.sources)
    return Loaded(spec, source, tuple(pools))


def _pool_problems(pools: list[Pool]) -> Iterator[Problem]:
    """Names that are no names or stand twice, and taints that are none."""
    from flatcar_gpu.forms import OBJECT_NAME, TAINT
    from flatcar_gpu.report import Problem, Severity

    first: dict[str, int] = {}
    for index, pool in enumerate(pools):
        if not OBJECT_NAME.fits(pool.name):
            says = f"{pool.name!r} is not {OBJECT_NAME.expected}"
            yield pool.source.locate(Problem(Severity.ERROR, says, path="name"))
        if pool.name in first:
            says = f"{pool.name!r} is also the name of the pool {first[pool.name] + 1}"
            yield pool.source.locate(Problem(Severity.ERROR, says, path="name", hint="each pool needs one of its own"))
        first.setdefault(pool.name, index)
        for number, taint in enumerate(pool.taints):
            if not TAINT.fits(taint):
                says = f"{taint!r} is not {TAINT.expected}"
                yield pool.source.locate(Problem(Severity.ERROR, says, path=f"taints.{number}"))
