"""How a rule is declared, and running all of them over a plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from flatcar_gpu.report import Problem, Report, Severity

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from flatcar_gpu.plan import Plan

_MODULES = ("driver", "toolkit", "usr_local")


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule broken: at which setting (`toolkit.installDir`), and what is wrong there.

    `remedy` replaces the rule's own where the way out depends on the plan.
    """

    at: str
    says: str
    remedy: str = ""


CheckFunction = Callable[["Plan"], Iterator[Finding]]


@dataclass(frozen=True, slots=True)
class Rule:
    """A compatibility rule. `why` says what happens on the node, `source` where that is known from."""

    id: str
    title: str
    severity: Severity
    why: str
    source: str
    remedy: str
    check: CheckFunction


_declared: dict[str, Rule] = {}


def rule(
    id: str, title: str, *, severity: Severity = Severity.ERROR, why: str, source: str, remedy: str
) -> Callable[[CheckFunction], CheckFunction]:
    """Declare the function below as the check of a rule."""

    def declare(check: CheckFunction) -> CheckFunction:
        if id in _declared:
            raise ValueError(f"rule {id} is declared twice")
        _declared[id] = Rule(id, title, severity, why, source, remedy, check)
        return check

    return declare


@cache
def rules() -> Mapping[str, Rule]:
    """All rules by id, in order of their ids."""
    for module in _MODULES:
        import_module(f"flatcar_gpu.rules.{module}")
    return dict(sorted(_declared.items()))


def check(plan: Plan, ignored: Collection[str] = ()) -> Report:
    """Every finding of every rule; those of the `ignored` rules only as information."""
    report = Report()
    for rule in rules().values():
        for finding in rule.check(plan):
            if rule.id in ignored:
                says = f"ignored as asked: {finding.says}"
                report.add(Problem(Severity.INFO, says, path=finding.at, rule=rule.id))
                continue
            hint = finding.remedy or rule.remedy
            report.add(Problem(rule.severity, finding.says, path=finding.at, rule=rule.id, hint=hint))
    return report
