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
    from collections.abc import Collection, Iterable, Mapping

    from flatcar_gpu.node.parts import Tree
    from flatcar_gpu.plan import Plan


class Subject(StrEnum):
    """What a rule's check function is given."""

    NODE = "node"
    """A Plan, whatever is made from it."""
    OPERATOR = "operator"
    """A Plan from which the operator's values or resources are made."""
    FLEET = "fleet"
    """A Fleet: the pools of one cluster."""
    VALUES = "values"
    """Values of the operator's chart, made from a plan or read from a file."""
    VALUES_FILE = "values file"
    """Values from a file, where nothing is known of the node."""
    LIVE_NODE = "live node"
    """An Inspection: a node that runs, and the plan that it should be made of."""


# Rules are loaded when something of their subject is checked: those about values bring YAML tables along.
_MODULES = {
    Subject.NODE: ("driver", "toolkit", "usr_local", "release", "config"),
    Subject.OPERATOR: ("operator",),
    Subject.VALUES: ("value_keys", "values"),
    Subject.VALUES_FILE: ("values_file",),
    Subject.FLEET: ("fleet",),
    Subject.LIVE_NODE: ("doctor",),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule broken: at which setting (`toolkit.installDir`) or path of the config, and what is wrong there.

    `remedy` and `severity` replace the rule's own where they depend on the plan.
    """

    at: str
    says: str
    remedy: str = ""
    severity: Severity | None = None


CheckFunction = Callable[[Any], Iterator[Finding]]
ConfigCheckFunction = Callable[["Plan", "Tree"], Iterator[Finding]]


@dataclass(frozen=True, slots=True)
class Rule:
    """A compatibility rule. `why` says what happens on the node, `source` where that is known from.

    It looks at its subject (`check`) or at a plan with its finished config (`check_config`).
    """

    id: str
    title: str
    severity: Severity
    why: str
    source: str
    remedy: str
    check: CheckFunction | None = None
    subject: Subject = Subject.NODE
    check_config: ConfigCheckFunction | None = None


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
    """Declare the function below as the check of a rule about `subject`."""

    def declare(check: CheckFunction) -> CheckFunction:
        _declare(Rule(id, title, severity, why, source, remedy, check, subject))
        return check

    return declare


def config_rule(
    id: str, title: str, *, severity: Severity = Severity.ERROR, why: str, source: str, remedy: str
) -> Callable[[ConfigCheckFunction], ConfigCheckFunction]:
    """Declare the function below as the check of a rule about finished configs."""

    def declare(check: ConfigCheckFunction) -> ConfigCheckFunction:
        _declare(Rule(id, title, severity, why, source, remedy, check_config=check))
        return check

    return declare


def _declare(rule: Rule) -> None:
    if rule.id in _declared:
        raise ValueError(f"rule {rule.id} is declared twice")
    _declared[rule.id] = rule


@cache
def rules() -> Mapping[str, Rule]:
    """All rules by id, in order of their ids."""
    return dict(sorted((rule.id, rule) for subject in Subject for rule in _rules_about(subject)))


@cache
def _rules_about(subject: Subject) -> tuple[Rule, ...]:
    for module in _MODULES[subject]:
        import_module(f"flatcar_gpu.rules.{module}")
    return tuple(rule for _, rule in sorted(_declared.items()) if rule.subject is subject)


def check(given: Any, ignored: Collection[str] = (), subject: Subject = Subject.NODE) -> Report:
    """Every finding of the rules on `subject` in what is `given`; those of the `ignored` rules only as information."""
    return _report(((rule, rule.check(given)) for rule in _rules_about(subject) if rule.check), ignored)


def check_config(plan: Plan, config: Tree, ignored: Collection[str] = ()) -> Report:
    """Every finding of the rules about finished configs; `config` is an Ignition tree."""
    chosen = _rules_about(Subject.NODE)
    found = ((rule, rule.check_config(plan, config)) for rule in chosen if rule.check_config)
    return _report(found, ignored)


def _report(found: Iterable[tuple[Rule, Iterator[Finding]]], ignored: Collection[str]) -> Report:
    report = Report()
    for rule, findings in found:
        for finding in findings:
            if rule.id in ignored:
                says = f"ignored as asked: {finding.says}"
                report.add(Problem(Severity.INFO, says, path=finding.at, rule=rule.id))
                continue
            severity = finding.severity or rule.severity
            hint = finding.remedy or rule.remedy
            report.add(Problem(severity, finding.says, path=finding.at, rule=rule.id, hint=hint))
    return report
