from __future__ import annotations

import pytest

from flatcar_gpu.flatcar.compact import from_compact, to_compact
from flatcar_gpu.flatcar.index import Index, family, is_channel
from flatcar_gpu.flatcar.release_json import parse_releases
from flatcar_gpu.flatcar.version import Version
from tests.release_files import LTS, STABLE


def parsed(data: bytes, channel: str) -> Index:
    return parse_releases(data, name="x.json", channel=channel)[0]


INDEX = parsed(STABLE, "stable").merged(parsed(LTS, "lts"))


def versions(releases: object) -> list[str]:
    return [str(release.version) for release in releases]  # type: ignore[attr-defined]


def test_releases_come_highest_number_first() -> None:
    assert versions(INDEX) == ["4459.2.10", "4459.2.9", "4459.2.0", "4081.3.10", "4081.3.2", "3510.3.8"]


def test_an_lts_year_has_the_releases_of_its_major_number() -> None:
    assert versions(INDEX.of_channel("lts-2024")) == ["4081.3.10", "4081.3.2"]
    assert versions(INDEX.of_channel("lts-2023")) == ["3510.3.8"]
    assert versions(INDEX.of_channel("lts")) == ["4081.3.10", "4081.3.2", "3510.3.8"]
    assert INDEX.of_channel("lts-2030") == []


def test_a_kernel_has_all_its_releases() -> None:
    assert versions(INDEX.with_kernel("6.12.54")) == ["4459.2.9", "4459.2.0"]
    assert INDEX.with_kernel("6.12.5") == []


def test_the_next_release_stays_in_the_channel() -> None:
    following = INDEX.next_after(Version(4081, 3, 2), "lts-2024")
    assert following is not None
    assert following.version == Version(4081, 3, 10)
    assert INDEX.next_after(Version(3510, 3, 8), "lts-2023") is None
    after_lts = INDEX.next_after(Version(3510, 3, 8), "lts")
    assert after_lts is not None
    assert after_lts.version == Version(4081, 3, 2)


def test_the_current_release_is_the_one_pointed_at_else_the_highest() -> None:
    pointed = INDEX.current_release("lts-2023")
    assert pointed is not None
    assert pointed.version == Version(3510, 3, 8)
    without_pointers = Index(INDEX.releases, {})
    highest = without_pointers.current_release("stable")
    assert highest is not None
    assert highest.version == Version(4459, 2, 10)
    assert without_pointers.current_release("alpha") is None
    assert without_pointers.current_release("lts-2024") is None


def test_the_channels_of_an_index_are_those_it_has_releases_of() -> None:
    assert INDEX.channels == ["stable", "lts", "lts-2023", "lts-2024"]


def test_how_far_an_index_reaches_is_the_date_of_its_latest_release() -> None:
    assert INDEX.newest_date == "2026-03-02"
    assert Index({}, {}).newest_date is None


def test_a_channels_part_keeps_its_pointers() -> None:
    part = INDEX.only("lts")
    assert versions(part) == ["4081.3.10", "4081.3.2", "3510.3.8"]
    assert set(part.current) == {"lts", "lts-2023", "lts-2024"}


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("stable", True),
        ("lts", True),
        ("lts-2024", True),
        ("lts-24", False),
        ("lts-", False),
        ("Stable", False),
        ("", False),
    ],
)
def test_which_words_are_channels(text: str, is_one: bool) -> None:
    assert is_channel(text) is is_one


def test_the_years_of_lts_are_listed_with_lts() -> None:
    assert family("lts-2024") == "lts"
    assert family("beta") == "beta"


def test_the_compact_form_loses_nothing() -> None:
    assert from_compact(to_compact(INDEX)) == INDEX


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"releases": [], "current": {}},
        {"releases": [["4459.2.0"]], "current": {}},
        {"releases": 3, "current": {}},
        {"releases": [["4459.2", None, None, None, None, None, None, None, []]], "current": {}},
        {"releases": [["1.2.3", None, None, None, None, None, None, None, []]], "current": {"stable": "4.5.6"}},
        {"releases": [["1.2.3", None, None, None, None, None, None, None, []]], "current": []},
    ],
)
def test_what_is_not_the_compact_form_is_refused(data: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"."):
        from_compact(data)
