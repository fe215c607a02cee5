"""All rules that concern the operator: over a plan with the values made from it, and over a file of values."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from flatcar_gpu.helm.operator_values import operator_values
from flatcar_gpu.helm.values import Values
from flatcar_gpu.helm.yaml_text import tree_of
from flatcar_gpu.platforms import PLATFORMS, size_report
from flatcar_gpu.report import Report
from flatcar_gpu.rules.registry import Subject, check, check_config
from flatcar_gpu.settings import settings
from flatcar_gpu.transpile import encode

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from flatcar_gpu.assembly import Node
    from flatcar_gpu.chart import ChartVersion
    from flatcar_gpu.fleet import Fleet
    from flatcar_gpu.helm.yaml_text import Entry
    from flatcar_gpu.plan import Plan
    from flatcar_gpu.report import Problem
    from flatcar_gpu.spec_file import Loaded
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


def check_fleet(fleet: Fleet, nodes: Mapping[str, Node], loaded: Loaded, ignored: Collection[str] = ()) -> Report:
    """Findings in every pool, in the operator's plan and in the pools together, each at its place in the spec file.

    `nodes` are the pools' nodes by name. What is said of all pools alike is said once.
    """
    found: dict[Problem, None] = {}
    of_node: dict[int, list[Problem]] = {}
    for index, pool in enumerate(fleet.pools):
        source = loaded.pools[index].source if loaded.pools else loaded.source
        node = nodes[pool.name]
        if id(node) not in of_node:
            of_node[id(node)] = [*check(node.plan, ignored), *check_config(node.plan, node.ignition, ignored)]
            if node.plan.spec.platform:
                of_node[id(node)] += size_report(
                    PLATFORMS[node.plan.spec.platform], encode(node.ignition), node.ignition
                )
        found |= dict.fromkeys(source.locate(problem) for problem in of_node[id(node)])
    shared = [*check_operator(fleet.cluster, ignored), *check(fleet, ignored, Subject.FLEET)]
    found |= dict.fromkeys(loaded.source.locate(problem) for problem in shared)
    return Report(list(found))


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
