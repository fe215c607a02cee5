from __future__ import annotations

import hashlib
import json
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import yaml

from flatcar_gpu.errors import Failure
from flatcar_gpu.flatcar.access import Access
from flatcar_gpu.platforms import PLATFORMS
from flatcar_gpu.settings import settings
from flatcar_gpu.terraform import answer, answer_text, error_lines
from flatcar_gpu.terraform_query import read_query

RELEASE = "4593.2.5"
IMAGE = {"repository": "registry.example.com/nvidia", "driver_version": "580.126.09"}
KEYS = [
    "ignition",
    "butane",
    "helm_values",
    "driver_image",
    "ignition_sha256",
    "ignition_bytes",
    "flatcar_version",
    "warnings",
]


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*arguments: Any, **named: Any) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr("socket.socket.connect", refused)


def _answer(**query: Any) -> dict[str, str]:
    return answer(json.dumps(query).encode(), Access())


def _errors(query: bytes | dict[str, Any], access: Access | None = None) -> list[str]:
    with pytest.raises(Failure) as caught:
        answer(query if isinstance(query, bytes) else json.dumps(query).encode(), access or Access())
    lines = error_lines(caught.value)
    assert all(line.isprintable() for line in lines)
    return lines


def _warnings(given: dict[str, str]) -> list[str]:
    found: list[str] = json.loads(given["warnings"])
    return found


def test_an_empty_query_gives_the_node_of_no_options() -> None:
    given = _answer()
    assert list(given) == KEYS
    assert all(isinstance(value, str) for value in given.values())
    assert json.loads(given["ignition"])["ignition"]["version"] == "3.3.0"
    assert not given["ignition"].endswith("\n")
    assert [given[key] for key in ("helm_values", "driver_image", "flatcar_version")] == ["", "", ""]


def test_the_answer_is_one_line_of_ascii_json() -> None:
    snippet = json.dumps(["variant: flatcar\nversion: 1.0.0\nstorage: {files: [{path: /é, contents: {inline: x}}]}"])
    data = answer_text(_answer(snippets=snippet))
    assert data.isascii()
    assert data.count(b"\n") == 1
    assert data.endswith(b"}\n")
    assert list(json.loads(data)) == KEYS


def test_every_setting_is_a_key() -> None:
    texts = {"bool": "true", "tuple": "aa,bb", "str": "text"}
    for setting in settings().values():
        text = setting.choices[-1] if setting.choices else texts[setting.kind.__name__]
        read = read_query(json.dumps({setting.option: text}).encode(), Access())
        expected = {"bool": True, "tuple": ("aa", "bb")}.get(setting.kind.__name__, text)
        assert read.values == {setting.key: expected}


def test_checksum_and_size_are_those_of_the_config() -> None:
    given = _answer(driver="sysext", ignore="FG115")
    data = given["ignition"].encode()
    assert given["ignition_sha256"] == hashlib.sha256(data).hexdigest()
    assert given["ignition_bytes"] == str(len(data))
    assert given["warnings"] == "[]"


def test_plain_keys_win_over_the_spec_and_empty_or_null_ones_do_not_count() -> None:
    spec = json.dumps(
        {"driver": {"strategy": "sysext", "sysext": None}, "updates": None, "toolkit": {"provider": "none"}}
    )
    assert "nvidia-drivers-570-open" in _answer(spec=spec, driver="", driver_sysext=None)["butane"]
    assert "nvidia-drivers" not in _answer(spec=spec, driver="none")["butane"]


@pytest.mark.parametrize("spec", ["", "null", "{}"])
def test_an_empty_spec_is_none(spec: str) -> None:
    assert _answer(spec=spec) == _answer()


def test_the_image_is_named_where_all_of_it_is_known() -> None:
    given = _answer(**IMAGE, flatcar=RELEASE)
    assert given["driver_image"] == f"registry.example.com/nvidia/driver:580.126.09-flatcar{RELEASE}"
    assert yaml.safe_load(given["helm_values"])["driver"]["repository"] == IMAGE["repository"]
    digest = "sha256:" + "0123456789abcdef" * 4
    pinned = _answer(repository=IMAGE["repository"], digest=digest, flatcar=RELEASE, image="gpu")
    assert pinned["driver_image"] == f"registry.example.com/nvidia/gpu@{digest}"
    assert _answer(**IMAGE)["driver_image"] == ""
    assert _answer(driver="sysext", flatcar=RELEASE)["driver_image"] == ""


def test_half_an_image_gives_no_values_and_a_warning() -> None:
    given = _answer(repository=IMAGE["repository"], flatcar=RELEASE)
    assert (given["helm_values"], given["driver_image"]) == ("", "")
    assert "warning: helm_values and driver_image are empty: driver_version is not given" in _warnings(given)


def test_warnings_speak_of_keys() -> None:
    (warning,) = _warnings(_answer(driver="sysext"))
    assert warning.startswith("warning[FG115]: query.runtime_sysext_hash: ")
    assert "--" not in warning
    assert _errors({"driver": "sysext", "strict": "true"}) == [warning]


def test_all_errors_come_at_once_each_in_a_line() -> None:
    query = {"driver": "contaner", "offline": "yes", "rdma": 5, "modules": ["a"], "timeout": "0", "ignore": "FG999"}
    assert [line.partition("; try: ")[0] for line in _errors(query)] == [
        "error: query.rdma: expected a text, found a number",
        "error: query.modules: expected a text, found a list",
        "error: query.driver: 'contaner' is not one of container, sysext, service, none",
        "error: query.offline: expected true or false, found 'yes'",
        "error: query.timeout: expected seconds, more than 0 and up to 3600, found '0'",
        "error: query.ignore: there is no rule 'FG999'",
    ]


@pytest.mark.parametrize("key", ["driver_verion", "driver-version", "DRIVER_VERSION"])
def test_an_unknown_key_is_an_error_that_names_the_nearest(key: str) -> None:
    (line,) = _errors({key: "1"})
    assert line.endswith(f"there is no key {key!r}; try: did you mean 'driver_version'?")


def test_errors_of_the_spec_have_their_place_in_it() -> None:
    spec = json.dumps({"driver": {"strategi": "x", "version": 570}, "flatcar": "v1"})
    assert [line.partition("; try: ")[0] for line in _errors({"spec": spec, "modules": "a b"})] == [
        "error: query.spec.driver.strategi: there is no setting 'strategi'",
        "error: query.spec.driver.version: expected a text, found the number 570",
        "error: query.spec.flatcar: 'v1' is not a Flatcar version such as 4593.2.5 or a channel such as stable",
        "error: query.modules: 'a b' is not the name of a kernel module",
    ]


@pytest.mark.parametrize(
    ("query", "says"),
    [
        (b"", "stdin is empty"),
        (b"{", "stdin is not JSON: "),
        (b"null", "expected an object of texts, found nothing"),
        (b"[]", "expected an object of texts, found a list"),
        (b'{"arch":"amd64"} {}', "stdin is not JSON: Extra data"),
        (b'{"arch":"amd64","arch":"arm64"}', "the key 'arch' stands in it twice"),
        (b'{"arch":"\xff"}', "stdin is not UTF-8"),
        (b'{"arch":"\\ud800"}', "half of a surrogate pair"),
        (b"[" * 100_000, "it is nested too deeply"),
        (b'{"arch":' + b"9" * 5000 + b"}", "stdin is not JSON"),
        (b'{"spec":"driver: {}"}', "query.spec: expected the JSON of a spec"),
        (b'{"spec":"[]"}', "query.spec: expected the JSON of a spec, an object, found a list"),
        (b'{"snippets":"x"}', "query.snippets: expected a JSON array"),
        (b'{"snippets":"[{}]"}', "found a mapping as item 0"),
        (b'{"\\u001b[31m":"x"}', "there is no key '\\x1b[31m'"),
    ],
)
def test_what_is_no_query_is_told_in_one_line(query: bytes, says: str) -> None:
    (line,) = _errors(query)
    assert says in line


def test_errors_tell_no_secrets() -> None:
    spec = {
        "toolkit": {"runtimeSysext": {"url": "ftp://me:sec@ret@host/x?token=hidden"}},
        "driver": {"password": "p4ss"},
    }
    said = "\n".join(_errors({"spec": json.dumps(spec), "token": "t0ken"}) + _errors({"spec": '{"a": "t0ken", '}))
    lines = _errors({"spec": json.dumps(spec)})
    said += "\n".join(lines)
    snippet = "variant: flatcar\nversion: 1.0.0\nstorage: {files: [{path: /x, mode: p4ssw0rd}]}"
    said += "\n".join(_errors({"snippets": json.dumps([snippet])}))
    assert not [secret for secret in ("sec@", "ret@", "hidden", "p4ss", "t0ken") if secret in said]
    assert any("ftp://host/x" in line for line in lines)


def test_a_version_needs_no_network_even_where_it_is_not_known() -> None:
    assert _answer(flatcar=RELEASE)["flatcar_version"] == RELEASE
    (line,) = _errors({"flatcar": "9999.9.9"})
    assert "the release index has no 9999.9.9; try: `flatcar-gpu releases update`" in line


def test_a_channel_needs_none_when_offline() -> None:
    given = _answer(flatcar="lts-2024", offline="true")
    assert given["flatcar_version"].startswith("4081.3.")


def test_texts_are_of_the_form_that_terraform_makes_of_them() -> None:
    decomposed = "variant: flatcar\nversion: 1.0.0\nsystemd: {units: [{name: a.service, contents: 'e\u0301'}]}"
    given = _answer(snippets=json.dumps([decomposed]))
    assert "é" in given["ignition"]
    assert all(unicodedata.is_normalized("NFC", value) for value in given.values())
    assert given["ignition_sha256"] == hashlib.sha256(given["ignition"].encode()).hexdigest()


def test_snippets_are_merged_over_the_node_and_their_problems_have_a_place() -> None:
    snippet = "variant: flatcar\nversion: 1.0.0\npasswd: {users: [{name: core, ssh_authorized_keys: [key]}]}"
    as_json = json.dumps({"variant": "flatcar", "version": "1.0.0", "systemd": {"units": [{"name": "a.service"}]}})
    given = _answer(snippets=json.dumps([snippet, "", '{"ignition": {"version": "3.4.0"}}', as_json]))
    tree = json.loads(given["ignition"])
    assert tree["systemd"]["units"][-1] == {"name": "a.service"}
    assert tree["passwd"]["users"][0]["sshAuthorizedKeys"] == ["key"]
    assert tree["ignition"]["version"] == "3.4.0"
    assert "passwd" not in given["butane"]
    (line,) = _errors({"snippets": json.dumps([snippet, "variant: flatcar\nversion: 9.9.9"])})
    assert line.startswith("error: query.snippets[1]")


def test_a_snippet_reads_no_files_of_the_machine() -> None:
    snippet = "variant: flatcar\nversion: 1.0.0\nstorage: {files: [{path: /x, contents: {local: etc/passwd}}]}"
    (line,) = _errors({"snippets": json.dumps([snippet])})
    assert line.startswith("error: query.snippets[0]:3:")


def test_a_config_too_large_for_its_platform_is_an_error_and_fits_when_shrunk() -> None:
    unit = "[Service]\n" + "# a comment\n" * 2000
    config = {"variant": "flatcar", "version": "1.0.0", "systemd": {"units": [{"name": "a.service", "contents": unit}]}}
    snippet = json.dumps([yaml.safe_dump(config)])
    (line,) = _errors({"platform": "aws", "snippets": snippet})
    assert "of the 16,384 that aws allows" in line
    given = _answer(platform="aws", snippets=snippet, shrink="true")
    assert int(given["ignition_bytes"]) < (PLATFORMS["aws"].limit or 0)


def test_a_pool_is_chosen_and_the_values_are_those_of_the_cluster() -> None:
    spec = json.dumps(
        {
            "driver": {"repository": IMAGE["repository"], "version": IMAGE["driver_version"]},
            "pools": [{"name": "a", "taints": ["team=a"]}, {"name": "b", "flatcar": RELEASE, "modules": ["xyz"]}],
        }
    )
    first, second = _answer(spec=spec, pool="a", ignore="FG206"), _answer(spec=spec, pool="b", ignore="FG206")
    assert first["helm_values"] == second["helm_values"]
    assert "team" in first["helm_values"]
    assert "xyz" in second["butane"]
    assert "xyz" not in first["butane"]
    assert second["flatcar_version"] == RELEASE
    (line,) = _errors({"spec": spec})
    assert line.endswith("; try: choose with pool: a, b")


def test_ten_at_once_give_the_same_answer() -> None:
    query = {**IMAGE, "flatcar": RELEASE}
    with ThreadPoolExecutor(10) as threads:
        answers = list(threads.map(lambda _: answer_text(_answer(**query)), range(10)))
    assert len(set(answers)) == 1
