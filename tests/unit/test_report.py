from __future__ import annotations

from flatcar_gpu.report import WIDTH, Position, Problem, Report, Severity


def test_a_problem_shows_its_place_its_line_and_the_way_out() -> None:
    report = Report()
    report.add(
        Problem(
            Severity.ERROR,
            "nvidia-drivers-580 is not built for 4593.2.5",
            path="driver.sysext",
            position=Position(2, 11, 29),
            file="spec.yaml",
            rule="FG101",
            hint="use another",
        )
    )
    assert report.as_text({"spec.yaml": "driver:\n  sysext: nvidia-drivers-580\n"}) == (
        "spec.yaml:2:11: error[FG101]: driver.sysext: nvidia-drivers-580 is not built for 4593.2.5\n"
        "  2 |   sysext: nvidia-drivers-580\n"
        "    |           ^^^^^^^^^^^^^^^^^^\n"
        "  try: use another        (flatcar-gpu explain FG101)\n"
    )


def test_without_an_end_the_mark_goes_to_the_next_blank() -> None:
    report = Report([Problem(Severity.WARNING, "m", position=Position(1, 4), file="f")])
    assert report.as_text({"f": "a: word more"}).splitlines()[2] == "    |    ^^^^"


def test_tabs_before_the_mark_stay_tabs() -> None:
    report = Report([Problem(Severity.ERROR, "m", position=Position(1, 3), file="f")])
    assert report.as_text({"f": "\t x"}).splitlines()[2] == "    | \t ^"


def test_of_a_long_line_only_the_part_around_the_mark_is_shown() -> None:
    line = "a" * 5000 + "MARK " + "b" * 5000
    shown = Report([Problem(Severity.ERROR, "m", position=Position(1, 5001), file="f")]).as_text({"f": line})
    excerpt, marks = shown.splitlines()[1:3]
    assert len(excerpt) <= WIDTH + 10
    assert excerpt[marks.index("^") : marks.rindex("^") + 1] == "MARK"


def test_a_position_behind_the_end_of_the_text_shows_no_line() -> None:
    report = Report([Problem(Severity.ERROR, "m", position=Position(9, 1), file="f")])
    assert report.as_text({"f": "one line"}) == "f:9:1: error: m\n"


def test_problems_are_shown_file_by_file_in_order_of_position() -> None:
    problems = [
        Problem(Severity.ERROR, "third", file="b", position=Position(1, 1)),
        Problem(Severity.ERROR, "second", file="b", position=Position(1, 1)),
        Problem(Severity.ERROR, "fifth", file="a", position=Position(2, 1)),
        Problem(Severity.ERROR, "first", file="b"),
        Problem(Severity.ERROR, "fourth", file="a", position=Position(1, 9)),
    ]
    shown = [problem.message for problem in Report(problems).by_position()]
    assert shown == ["first", "third", "second", "fourth", "fifth"]


def test_json_form_counts_and_keeps_the_parts_apart() -> None:
    report = Report()
    report.warning("careful", path="arch", rule="FG1")
    report.error("wrong", position=Position(3, 4), hint="mend it")
    assert report.in_file("spec.yaml").as_dict() == {
        "format_version": "1.0",
        "valid": False,
        "error_count": 1,
        "warning_count": 1,
        "diagnostics": [
            {"severity": "warning", "summary": "careful", "path": "arch", "rule": "FG1", "file": "spec.yaml"},
            {
                "severity": "error",
                "summary": "wrong",
                "hint": "mend it",
                "file": "spec.yaml",
                "range": {"start": {"line": 3, "column": 4}},
            },
        ],
    }
