"""Ignition configs that are there already."""

from __future__ import annotations

import pytest

from flatcar_gpu.report import Position, Severity
from flatcar_gpu.transpile import validate_ignition


def _config(version: str, rest: str = "") -> bytes:
    return f'{{"ignition":{{"version":"{version}"}}{rest}}}'.encode()


@pytest.mark.parametrize("version", ["3.3.0", "3.4.0", "3.7.0-experimental"])
def test_these_versions_are_checked_by_all_rules(version: str) -> None:
    validation = validate_ignition(_config(version))
    assert (len(validation.report), validation.all_rules) == (0, True)
    assert validation.rules == f"all rules of Ignition 2.26 for {version}"


@pytest.mark.parametrize("version", ["3.0.0", "3.1.0", "3.2.0", "3.5.0", "3.6.0"])
def test_other_versions_are_checked_by_the_rules_they_share(version: str) -> None:
    validation = validate_ignition(_config(version, ',"storage":{"files":[{"path":"rel"}]}'))
    assert [problem.message for problem in validation.report] == ["path not absolute"]
    assert validation.rules.startswith("structure and the rules that all 3.x versions share")


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ("2.3.0", "unsupported config version"),
        ("3.8.0", "unsupported config version"),
        ("x", "invalid config version (couldn't parse)"),
    ],
)
def test_unknown_versions_are_named_at_their_place(version: str, message: str) -> None:
    [problem] = validate_ignition(_config(version)).report
    assert (problem.message, problem.path, problem.position) == (message, "$.ignition.version", Position(1, 24))
    assert problem.hint


def test_places_are_those_of_the_text() -> None:
    text = b'{\n  "ignition": {"version": "3.3.0"},\n  "storage": {"files": [{"path": "a",\n    "mod": 1}]}\n}\n'
    path, unknown = validate_ignition(text).report
    assert (path.path, path.position) == ("$.storage.files.0.path", Position(3, 34))
    assert (unknown.message, unknown.position, unknown.hint) == ("unused key mod", Position(4, 5), "did you mean mode?")
    assert unknown.severity is Severity.WARNING


def test_a_tree_is_checked_like_its_text_but_has_no_places() -> None:
    [problem] = validate_ignition({"ignition": {"version": "3.3.0"}, "storage": {"files": [{"path": "a"}]}}).report
    assert (problem.message, problem.position) == ("path not absolute", None)


def test_both_places_of_a_duplicate_are_told() -> None:
    [problem] = validate_ignition(_config("3.3.0", ',"passwd":{"users":[{"name":"a"},{"name":"a"}]}')).report
    assert problem.message == "duplicate entry defined"
    assert problem.hint == "the first one is $.passwd.users.0, line 1 column 52"


def test_a_repeated_key_counts_once_and_is_a_warning() -> None:
    text = _config("3.3.0", ',"storage":{"files":[{"path":"a","path":"/a"}]}')
    [problem] = validate_ignition(text).report
    assert problem.severity is Severity.WARNING
    assert problem.message == "key path is set more than once, only the last one counts"


def test_keys_match_in_any_case() -> None:
    text = _config("3.3.0", ',"storage":{"files":[{"PATH":"a"}]}')
    assert [problem.message for problem in validate_ignition(text).report] == ["path not absolute", "unused key PATH"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "unexpected end of JSON input"),
        (b"variant: flatcar\n", "invalid character 'v' looking for beginning of value"),
        (
            b'{"ignition":{"version":"3.3.0"},"storage":[]}',
            "cannot unmarshal array into Go struct field Config.storage",
        ),
        (b'{"ignition":{"version":"3.3.0"},"passwd":{"users":[{"name":5}]}}', "cannot unmarshal number into"),
        (b'{"ignition":{"version":"3.3.0"},"passwd":{"users":[{"uid":1.5}]}}', "cannot unmarshal number 1.5 into"),
        (b"[]", "invalid config version (couldn't parse)"),
    ],
)
def test_what_is_no_ignition_config(text: bytes, message: str) -> None:
    [problem] = validate_ignition(text).report
    assert message in problem.message
    assert problem.severity is Severity.ERROR
    assert problem.position is not None


def test_newer_specs_allow_special_bits() -> None:
    rest = ',"storage":{"files":[{"path":"/a","mode":3565}]}'
    assert len(validate_ignition(_config("3.4.0", rest)).report) == 1
    assert len(validate_ignition(_config("3.6.0", rest)).report) == 0
