from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
import yaml
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from flatcar_gpu.errors import Failure, InvalidInput
from flatcar_gpu.settings import settings
from flatcar_gpu.spec import Arch, Strategy
from flatcar_gpu.spec_file import load_spec
from flatcar_gpu.spec_reader import json_schema

if TYPE_CHECKING:
    from pathlib import Path

    from flatcar_gpu.report import Problem


def _problems(tmp_path: Path, text: str | bytes, flags: dict[str, Any] | None = None) -> list[Problem]:
    path = tmp_path / "spec.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InvalidInput) as caught:
        load_spec(str(path), flags or {})
    return list(caught.value.report)


def _only(tmp_path: Path, text: str | bytes) -> tuple[str, str, int, int]:
    (problem,) = _problems(tmp_path, text)
    assert problem.position is not None
    return problem.message, problem.hint, problem.position.line, problem.position.column


def _load(tmp_path: Path, text: str, flags: dict[str, Any] | None = None) -> Any:
    path = tmp_path / "spec.yaml"
    path.write_text(text)
    return load_spec(str(path), flags or {}).spec


def test_the_example_of_the_documentation_is_read(tmp_path: Path) -> None:
    spec = _load(tmp_path, 'driver: {strategy: service, version: "570.195.03"}\nmodules: [nvidia_peermem]\n')
    assert spec.driver.strategy is Strategy.SERVICE
    assert spec.driver.version == "570.195.03"
    assert spec.modules == ("nvidia_peermem",)


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n", "apiVersion: flatcar-gpu/v1\n"])
def test_an_empty_spec_is_all_defaults(tmp_path: Path, text: str) -> None:
    assert _load(tmp_path, text) == load_spec(None, {}).spec


def test_flags_win_over_the_file(tmp_path: Path) -> None:
    spec = _load(tmp_path, "arch: arm64\ndriver: {strategy: service}\n", {"arch": Arch.AMD64})
    assert spec.arch is Arch.AMD64
    assert spec.driver.strategy is Strategy.SERVICE


def test_a_flag_mends_a_value_of_the_file_that_has_the_wrong_form(tmp_path: Path) -> None:
    assert _load(tmp_path, "modules: ['b d']\n", {"modules": ("bd",)}).modules == ("bd",)


def test_merge_keys_and_anchors_work_and_own_keys_win(tmp_path: Path) -> None:
    spec = _load(
        tmp_path,
        "driver: &base {strategy: service, version: '570.1'}\nupdates: {hold: true}\n"
        "usrLocal: {<<: {mode: overlay, upper: /var/lib/a}, upper: /var/lib/b}\n",
    )
    assert spec.usr_local.upper == "/var/lib/b"
    assert spec.usr_local.mode == "overlay"


def test_a_misspelt_key_is_named_with_the_right_one(tmp_path: Path) -> None:
    message, hint, *place = _only(tmp_path, "drivr: {strategy: none}\n")
    assert message == "there is no setting 'drivr'"
    assert hint == "did you mean 'driver'?"
    assert place == [1, 1]


def test_a_key_in_the_wrong_case_is_recognised(tmp_path: Path) -> None:
    assert _only(tmp_path, "toolkit: {INSTALLDIR: /opt/x}\n")[1] == "did you mean 'installDir'?"


def test_a_key_unlike_any_other_lists_the_keys_of_its_section(tmp_path: Path) -> None:
    _, hint, line, column = _only(tmp_path, "driver:\n  xyzzy: 1\n")
    assert hint.startswith("the keys here are strategy, version, sysext, ")
    assert (line, column) == (2, 3)


def test_a_number_for_a_version_asks_for_quotes(tmp_path: Path) -> None:
    message, hint, line, column = _only(tmp_path, "driver:\n  version: 570.10\n")
    assert message == "expected a text, found the number 570.1"
    assert hint.startswith("quote it:")
    assert (line, column) == (2, 12)


def test_every_error_is_reported_at_once_in_order_of_position(tmp_path: Path) -> None:
    text = (
        "drivr: 1\n"
        "driver: {strategy: sysxt, version: [a]}\n"
        "toolkit: {installDir: opt}\n"
        "modules: nvidia_peermem\n"
        "updates: {hold: perhaps}\n"
        "updates: {hold: true}\n"
        "apiVersion: flatcar-gpu/v2\n"
    )
    found = _problems(tmp_path, text)
    assert [(problem.path, problem.position.line) for problem in found if problem.position] == [
        ("drivr", 1),
        ("driver.strategy", 2),
        ("driver.version", 2),
        ("toolkit.installDir", 3),
        ("modules", 4),
        ("updates", 6),
        ("apiVersion", 7),
    ]
    assert found[1].hint == "did you mean 'sysext'?"


def test_a_key_twice_names_both_lines(tmp_path: Path) -> None:
    message, _, line, column = _only(tmp_path, "arch: amd64\narch: arm64\n")
    assert message == "the key 'arch' stands here again; it is already in line 1"
    assert (line, column) == (2, 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- a\n", "a spec is a mapping of settings"),
        ("driver: [\n", "while parsing a flow node: did not find expected node content"),
        ("a: *missing\n", "found undefined alias"),
        ("driver: {[a]: 1}\n", "a key must be a plain text"),
        ("a: b\n---\nc: d\n", "expected a single document in the stream: but found another document"),
        ("driver: {strategy: !!int x}\n", "invalid literal for int() with base 10: 'x'"),
        ("driver: text\n", "expected a mapping, found 'text'"),
        ("modules: [[a]]\n", "expected a text, found a list"),
        (b"\xff\xfe\xff", "the file is not UTF-8: invalid start byte at byte 0"),
        (b"a: \x00", "the file holds a character that YAML does not allow: control characters are not allowed"),
        ("[" * 200 + "\n", "more than 50 levels deep"),
        ("? " * 200 + "a\n", "more than 50 levels deep"),
    ],
)
def test_what_is_not_a_spec_gets_a_clear_error(tmp_path: Path, text: str | bytes, message: str) -> None:
    assert _problems(tmp_path, text)[0].message == message


def test_an_alias_bomb_ends_in_an_error(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    messages = [problem.message for problem in _problems(tmp_path, "\n".join(lines))]
    assert messages[-1] == "aliases make the file grow beyond all bounds"


def test_a_file_that_is_not_there_is_a_failure(tmp_path: Path) -> None:
    with pytest.raises(Failure, match=r"cannot read .*nowhere\.yaml"):
        load_spec(str(tmp_path / "nowhere.yaml"), {})


def test_a_bad_flag_is_reported_by_its_name() -> None:
    with pytest.raises(InvalidInput) as caught:
        load_spec(None, {"modules": ("a", "b d")})
    assert [problem.path for problem in caught.value.report] == ["--modules"]


_YAML_DATA = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(_YAML_DATA)
@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_yaml_is_a_spec_or_a_report(tmp_path: Path, data: Any) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(yaml.safe_dump(data))
    try:
        load_spec(str(path), {})
    except InvalidInput as error:
        report, sources = error.report, error.sources
    else:
        return
    assert report.has_errors
    assert report.as_text(sources)


def test_the_schema_is_valid_and_agrees_with_the_reader(tmp_path: Path) -> None:
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    assert validator.is_valid({"apiVersion": "flatcar-gpu/v1", "driver": {"strategy": "sysext"}, "modules": ["a"]})
    wrong: dict[str, Any]
    for wrong in ({"drivr": {}}, {"driver": {"version": 570.1}}, {"toolkit": {"installDir": "opt"}}, {"arch": "x86"}):
        assert not validator.is_valid(wrong)
        _problems(tmp_path, json.dumps(wrong))


def test_the_schema_describes_every_setting() -> None:
    text = json.dumps(json_schema())
    for setting in settings().values():
        assert json.dumps(setting.help) in text
