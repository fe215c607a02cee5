from __future__ import annotations

from pathlib import Path

import pytest

from flatcar_gpu.cli import run
from flatcar_gpu.plan import resolve
from flatcar_gpu.rules import Rule, check, rules
from flatcar_gpu.settings import settings, with_values
from flatcar_gpu.spec import Spec

CASES = Path(__file__).parents[2] / "cases" / "rules"


@pytest.mark.parametrize("rule", list(rules().values()), ids=lambda rule: rule.id)
def test_every_rule_has_a_reason_a_source_and_a_way_out(rule: Rule) -> None:
    assert rule.title
    assert rule.why.endswith(".")
    assert len(rule.source) > 10
    assert rule.remedy
    assert (rule.check is None) is not (rule.check_config is None)


@pytest.mark.parametrize("name", list(rules()))
def test_every_rule_has_a_case_that_breaks_it_and_one_that_keeps_it(name: str) -> None:
    assert f"[{name}]" in (CASES / f"{name}-broken" / "stderr").read_text()
    assert (CASES / f"{name}-kept" / "command").exists()
    assert not (CASES / f"{name}-kept" / "stderr").exists()


@pytest.mark.parametrize("name", list(rules()))
def test_every_rule_is_explained(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", name]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"{name} (")
    assert "way out: " in out
    assert "source:  " in out


def test_the_list_has_a_rule_a_line_with_its_id_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(rules())


def test_a_finding_points_at_a_setting() -> None:
    spec = with_values(Spec(), {"toolkit.installDir": "/usr/nvidia"})
    assert [problem.path in settings() for problem in check(resolve(spec))] == [True]


def test_an_ignored_rule_is_still_named_and_no_longer_fails() -> None:
    spec = with_values(Spec(), {"toolkit.installDir": "/usr/nvidia"})
    report = check(resolve(spec), ignored=["FG111"])
    assert not report.has_errors
    assert [problem.rule for problem in report] == ["FG111"]


def test_an_unknown_rule_cannot_be_ignored(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["butane", "--ignore", "FG999"]) == 2
    assert "there is no rule 'FG999'" in capsys.readouterr().err
