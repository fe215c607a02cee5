from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flatcar_gpu.flatcar.index import Release
from flatcar_gpu.flatcar.release_json import UnusableIndex, parse_releases
from flatcar_gpu.flatcar.version import Version
from tests.release_files import LTS, STABLE, release_json, row
from tests.shared_data import require_shared


def messages(data: bytes, channel: str | None = "stable") -> list[str]:
    _, report = parse_releases(data, name="x.json", channel=channel)
    return [problem.message for problem in report]


def test_a_row_becomes_a_release() -> None:
    index, report = parse_releases(STABLE, name="x.json", channel="stable")
    assert index.get(Version(4459, 2, 10)) == Release(
        version=Version(4459, 2, 10),
        channel="stable",
        date="2026-03-01",
        kernel="6.12.58",
        docker="28.0.4",
        containerd="2.0.7",
        systemd="256",
        ignition="2.22.0",
        architectures=("amd64", "arm64"),
    )
    assert len(index) == 3
    assert not len(report)


def test_pointers_are_the_versions_whose_rows_they_repeat() -> None:
    index, report = parse_releases(LTS, name="x.json", channel="lts")
    assert {name: str(version) for name, version in index.current.items()} == {
        "lts": "4081.3.10",
        "lts-2023": "3510.3.8",
        "lts-2024": "4081.3.10",
    }
    assert not len(report)


def test_a_pointer_that_equals_no_row_is_the_row_of_its_date_and_kernel() -> None:
    rows: dict[str, Any] = {"4459.2.0": row("stable", "2025-11-12"), "4459.2.1": row("stable", "2025-12-01")}
    data = json.dumps(rows | {"current": row("stable", "2025-12-01", release_notes="changed")}).encode()
    index, report = parse_releases(data, name="x.json", channel="stable")
    assert index.current == {"stable": Version(4459, 2, 1)}
    assert not len(report)


def test_a_pointer_to_nothing_is_named_and_the_highest_release_taken() -> None:
    data = json.dumps({"4459.2.0": row("stable", "2025-11-12"), "current": row("stable", "2024-01-01")}).encode()
    index, _ = parse_releases(data, name="x.json", channel="stable")
    assert index.current == {"stable": Version(4459, 2, 0)}
    assert messages(data) == [
        "x.json: 'current' repeats no release and is left out",
        "x.json: it does not say which release of stable is current; 4459.2.0 is the highest",
    ]


def test_current_in_a_file_of_all_channels_is_of_the_channel_of_its_row() -> None:
    rows = {"4487.0.0": row("alpha", "2025-10-14"), "4459.2.0": row("stable", "2025-11-12")}
    index, _ = parse_releases(release_json(rows, current="4459.2.0"), name="releases.json")
    assert index.current == {"stable": Version(4459, 2, 0)}


def test_current_in_a_channels_file_is_never_a_release_of_another_channel() -> None:
    rows = {
        "4487.0.0": row("alpha", "2025-10-14"),
        "4515.0.0": row("alpha", "2025-11-12"),
        "4459.2.0": row("stable", "2025-11-12"),
    }
    index, _ = parse_releases(release_json(rows, current="4459.2.0"), name="x.json", channel="alpha")
    assert index.current == {"stable": Version(4459, 2, 0), "alpha": Version(4515, 0, 0)}


def test_a_channels_file_without_a_release_of_the_channel_is_refused() -> None:
    with pytest.raises(UnusableIndex, match=r"x\.json lists no release of lts"):
        parse_releases(STABLE, name="x.json", channel="lts-2024")


def test_the_channel_is_the_field_and_never_the_minor_number() -> None:
    data = release_json({"2605.32.1": row("lts", "2022-03-01")}, current="2605.32.1", current_2021="2605.32.1")
    index, _ = parse_releases(data, name="x.json", channel="lts-2021")
    assert index.releases[Version(2605, 32, 1)].channel == "lts"
    assert index.current == {"lts-2021": Version(2605, 32, 1)}


def software(**changes: Any) -> dict[str, Any]:
    found = row("stable", "2025-11-12")["major_software"] | changes
    return {key: value for key, value in found.items() if value is not None}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"channel": None}, "channel is missing or odd in 4459.2.0"),
        ({"channel": "gamma"}, "the channel gamma is unknown, of 4459.2.0"),
        ({"channel": "\x1b[31mred {}"}, "channel is missing or odd in 4459.2.0"),
        ({"architectures": ["amd64", 64]}, "architectures is missing or odd in 4459.2.0"),
        ({"major_software": software(kernel=["6.12\n50"])}, "kernel is odd in 4459.2.0"),
        ({"release_date": None}, "release_date is missing or odd in 4459.2.0"),
        ({"release_date": "yesterday"}, "release_date is missing or odd in 4459.2.0"),
        ({"architectures": "amd64"}, "architectures is missing or odd in 4459.2.0"),
        ({"major_software": None}, "major_software is missing or odd in 4459.2.0"),
        ({"major_software": software(kernel=None)}, "kernel is missing in 4459.2.0"),
        ({"major_software": software(docker=[])}, "docker is odd in 4459.2.0"),
        ({"major_software": software(systemd=[256])}, "systemd is odd in 4459.2.0"),
        (
            {"major_software": software(ignition=["2.22.0", "2.23.0"])},
            "ignition is not a single value in 4459.2.0; the first is taken",
        ),
        ({"major_software": software(containerd=None)}, "containerd is missing in 4459.2.0"),
    ],
)
def test_an_odd_or_missing_field_survives_and_is_named(changes: dict[str, Any], says: str) -> None:
    whole = row("stable", "2025-11-12") | changes
    odd = {key: value for key, value in whole.items() if value is not None}
    data = release_json({"4459.2.0": odd, "4459.2.1": row("stable", "2025-12-01")}, current="4459.2.1")
    index, _ = parse_releases(data, name="x.json", channel="stable")
    assert Version(4459, 2, 0) in index.releases
    assert f"x.json: {says}" in messages(data)


def test_a_plain_string_is_as_good_as_a_list_of_one() -> None:
    data = release_json(
        {"4459.2.0": row("stable", "2025-11-12", major_software=software(kernel="6.12.9-flatcar"))}, current="4459.2.0"
    )
    index, report = parse_releases(data, name="x.json", channel="stable")
    assert index.releases[Version(4459, 2, 0)].kernel == "6.12.9"
    assert not len(report)


def test_containerd_is_not_missed_in_releases_from_before_it_was_listed() -> None:
    rows = {"2905.2.0": row("stable", "2021-07-28", major_software=software(containerd=None))}
    assert messages(release_json(rows, current="2905.2.0")) == []


def test_a_defect_of_many_rows_is_one_warning() -> None:
    rows = {f"4459.2.{patch}": row("stable", "2025-11-12", architectures=[]) for patch in range(7)}
    assert messages(release_json(rows, current="4459.2.6")) == [
        "x.json: architectures is missing or odd in 4459.2.0, 4459.2.1, 4459.2.2, 4459.2.3, 4459.2.4 and 2 more",
    ]


def test_keys_that_are_no_release_are_left_out_and_named() -> None:
    rows: dict[str, Any] = {"4459.2.0": row("stable", "2025-11-12"), "4459.2": {}, "latest": {}, "4459.2.1": "later"}
    data = release_json(rows, current="4459.2.0")
    index, _ = parse_releases(data, name="x.json", channel="stable")
    assert list(index.releases) == [Version(4459, 2, 0)]
    assert messages(data) == ["x.json: '4459.2', 'latest', '4459.2.1' is not a release and is left out"]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "x.json is empty"),
        (b" \n", "x.json is empty"),
        (b"\xef\xbb\xbf  <!DOCTYPE html><html></html>", "x.json is a web page"),
        (STABLE[:-1], "x.json is cut off"),
        (STABLE[: len(STABLE) // 2], "x.json is cut off"),
        (b"{'single': 1}", "x.json is not valid JSON"),
        (b"[" * 100_000, "x.json is not valid JSON"),
        (b'{"a": ' + b"9" * 10_000 + b"}", "x.json is not valid JSON"),
        (b"\xff\xfe\xfa{}", "x.json is not valid JSON"),
        (b"[]", "its top level is not an object"),
        (b"{}", "x.json lists no release"),
        (b'{"current": {}}', "x.json lists no release"),
        (b'{"4459.2.0": null}', "x.json lists no release"),
    ],
)
def test_what_is_no_release_json_is_refused_with_the_reason(data: bytes, says: str) -> None:
    with pytest.raises(UnusableIndex) as caught:
        parse_releases(data, name="x.json", channel="stable")
    assert says in caught.value.message


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(["4459.2.0", "1.2.3", "current", "current-2024", "odd"])
FIELDS = st.sampled_from(["channel", "release_date", "major_software", "architectures"])
ROWS = st.dictionaries(FIELDS, JSON | st.dictionaries(st.sampled_from(["kernel", "docker"]), JSON)) | JSON


@given(st.dictionaries(KEYS, ROWS))
def test_any_json_is_read_or_refused(rows: dict[str, Any]) -> None:
    try:
        index, _ = parse_releases(json.dumps(rows).encode(), name="x.json")
    except UnusableIndex:
        return
    assert set(index.current.values()) <= set(index.releases)


@pytest.mark.parametrize(
    "name",
    [
        "2020-03-17-72fa8506-releases-stable.json",
        "2021-04-29-49d5f5a5-releases-stable.json",
        "2021-09-16-c349486a-releases-stable.json",
        "2023-10-05-301c851c-releases-lts-2023.json",
        "2023-11-22-a84f4008-releases-alpha-3794.0.0-missing-docker-containerd.json",
        "2025-01-31-79565def-releases-lts-2024.json",
        "2026-03-09-11e6c5aa-releases-stable.json",
    ],
)
def test_the_real_files_of_the_past_are_read(name: str) -> None:
    data = require_shared(f"data/flatcar/historical/{name}").read_bytes()
    index, report = parse_releases(data, name=name)
    versions = [key for key in json.loads(data) if key[0].isdigit()]
    assert sorted(map(str, index.releases)) == sorted(versions)
    assert index.current
    said = [problem.message for problem in report]
    if "missing-docker-containerd" in name:
        assert said == [f"{name}: docker is missing in 3794.0.0", f"{name}: containerd is missing in 3794.0.0"]
    else:
        assert said == []
