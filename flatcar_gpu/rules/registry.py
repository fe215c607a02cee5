"""How a rule is declared, and running all of them over a plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from flatcar_gpu.report import Problem, Report, Severity

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

_MODULES = ("driver", "toolkit", "usr_local", "operator", "value_keys", "values", "values_file")


class Subject(StrEnum):
    """What a rule's check function is given."""

    NODE = "node"
    """A Plan, whatever is made from it."""
    OPERATOR = "operator"
    """A Plan from which the operator's values or resources are made."""
    VALUES = "values"
    """Values of the operator's chart, made from a plan or read from a file."""
    VALUES_FILE = "values file"
    """Values from a file, where nothing is known of the node."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule broken: at which setting (`toolkit.installDir`), and what is wrong there.

    `remedy` replaces the rule's own where the way out depends on the plan.
    """

    at: str
    says: str
    remedy: str = ""


CheckFunction = Callable[[Any], Iterator[Finding]]


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
    subject: Subject


_declared: dict[str, Rule] = {}


def rule(
    id: str,
    title: str,
    *,
    severity: Severity = Severity.ERROR,
    subject: Subject = Subject.NODE,
    why: str,
    source: str,
    remedy: str,
) -> Callable[[CheckFunction], CheckFunction]:
    """Declare the function below as the check of a rule."""

    def declare(check: CheckFunction) -> CheckFunction:
        if id in _declared:
            raise ValueError(f"rule {id} is declared twice")
        _declared[id] = Rule(id, title, severity, why, source, remedy, check, subject)
        return check

    return declare


@cache
def rules() -> Mapping[str, Rule]:
    """All rules by id, in order of their ids."""
    for module in _MODULES:
        import_module(f"flatcar_gpu.rules.{module}")
    return dict(sorted(_declared.items()))


def check(given: Any, ignored: Collection[str] = (), subject: Subject = Subject.NODE) -> Report:
    """Every finding of every rule on `subject` in what is `given`; those of the `ignored` rules only as information."""
    report = Report()
    for rule in rules().values():
        if rule.subject is not subject:
            continue
        for finding in rule.check(given):
            if rule.id in ignored:
                says = f"ignored as asked: {finding.says}"
                report.add(Problem(Severity.INFO, says, path=finding.at, rule=rule.id))
                continue
            hint = finding.remedy or rule.remedy
            report.add(Problem(rule.severity, finding.says, path=finding.at, rule=rule.id, hint=hint))
    return report
