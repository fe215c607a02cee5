"""All rules that concern the operator: over a plan with the values made from it, and over a file of values."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from flatcar_gpu.helm.operator_values import operator_values
from flatcar_gpu.helm.values import Values
from flatcar_gpu.helm.yaml_text import tree_of
from flatcar_gpu.report import Report
from flatcar_gpu.rules.registry import Subject, check
from flatcar_gpu.spec import settings

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from flatcar_gpu.chart import ChartVersion
    from flatcar_gpu.helm.yaml_text import Entry
    from flatcar_gpu.plan import Plan
    from flatcar_gpu.report import Problem
    from flatcar_gpu.yaml_positions import YamlDocument

# Findings about the key, not about what stands at it.
_OF_THE_KEY = ("FG300", "FG301")


def check_operator(plan: Plan, ignored: Collection[str] = ()) -> Report:
    """Findings in a plan and in the values made from it, each at the setting of the spec that it comes from."""
    # An image counts whether the chart makes a NVIDIADriver of it or `driver_resources` does.
    entries = operator_values(plan, with_default_resource=True)
    report = check(plan, ignored)
    report.extend(check(plan, ignored, Subject.OPERATOR))
    values = Values(plan.operator.chart, tree_of(entries))
    report.extend(_at_its_setting(problem, entries) for problem in check(values, ignored, Subject.VALUES))
    return report


def _at_its_setting(problem: Problem, entries: Iterable[Entry]) -> Problem:
    settings_of = {entry.key: entry.setting for entry in entries}
    key = problem.path
    while key and key not in settings_of:
        key = key.rpartition(".")[0]
    setting = settings_of.get(key) or (problem.path if problem.path in settings() else "operator.chartVersion")
    return replace(problem, path=setting)


def check_values(document: YamlDocument, chart: ChartVersion, ignored: Collection[str] = ()) -> Report:
    """Findings in a file of values for a chart, each at its place in the file."""
    tree = document.mapping("a values file", "begin with `driver:` or `toolkit:`")
    if not tree and document.report.has_errors:
        return document.report
    values = Values(chart, tree, document.texts)
    found = [*check(values, ignored, Subject.VALUES), *check(values, ignored, Subject.VALUES_FILE)]
    return Report([*document.report, *(_at_its_place(problem, document) for problem in found)])


def _at_its_place(problem: Problem, document: YamlDocument) -> Problem:
    if problem.path == "operator.chartVersion":
        return replace(problem, path="--chart-version")
    key = problem.path
    while key and key not in document.values:
        key = key.rpartition(".")[0]
    is_about_key = problem.rule in _OF_THE_KEY or key != problem.path
    places = document.keys if is_about_key else document.values
    return replace(problem, file=document.name, position=places.get(key))
