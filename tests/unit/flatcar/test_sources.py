"""Sources of the index that need no server; those that do are in tests/contract/test_release_server.py."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from flatcar_gpu.errors import Failure
from flatcar_gpu.flatcar.access import Access, cache_folder
from flatcar_gpu.flatcar.cache import FRESH_FOR, Entry, read_entry, write_entry
from flatcar_gpu.flatcar.index import CHANNELS
from flatcar_gpu.flatcar.location import local_path, shown, urls
from flatcar_gpu.flatcar.release_json import UnusableIndex, parse_releases
from flatcar_gpu.flatcar.resolve import OLD_AFTER_DAYS, resolve_release
from flatcar_gpu.flatcar.snapshot import snapshot
from flatcar_gpu.flatcar.sources import Provenance, Source, load
from tests.release_files import LTS, STABLE, release_json, row
from tests.shared_data import require_shared

SERVER = "http://127.0.0.1:9"  # the discard port: nothing may be asked of it
URL = f"{SERVER}/releases-stable.json"


def entry(checked: float, url: str = URL) -> Entry:
    return Entry(url, parse_releases(STABLE, name="x", channel="stable")[0], checked, '"e"', "Mon, 02 Mar 2026")


def offline(cache: Path | None = None, index_url: str = SERVER) -> Access:
    return Access(index_url, offline=True, cache=cache)


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(url: str, **_: object) -> None:
        raise AssertionError(f"{url} was asked for")

    monkeypatch.setattr("flatcar_gpu.flatcar.sources.fetch", refuse)


def test_an_entry_reads_back_as_it_was_written(tmp_path: Path) -> None:
    write_entry(tmp_path / "new" / "folder", entry(1000.5))
    assert read_entry(tmp_path / "new" / "folder", URL) == entry(1000.5)
    assert read_entry(tmp_path / "new" / "folder", URL + "x") is None
    assert [path.stat().st_mode & 0o777 for path in (tmp_path / "new").iterdir()] == [0o700]


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"format": 1}', b'{"format": 2}', b"\xff", b"null"])
def test_a_damaged_entry_is_as_good_as_none(tmp_path: Path, damage: bytes) -> None:
    write_entry(tmp_path, entry(time.time()))
    (file,) = tmp_path.iterdir()
    file.write_bytes(damage)
    assert read_entry(tmp_path, URL) is None


def test_an_entry_cut_off_anywhere_is_as_good_as_none(tmp_path: Path) -> None:
    write_entry(tmp_path, entry(time.time()))
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    for length in range(len(whole)):
        file.write_bytes(whole[:length])
        assert read_entry(tmp_path, URL) is None


def test_an_entry_is_fresh_for_hours_and_never_when_it_is_from_the_future() -> None:
    assert entry(1000).is_fresh(1000)
    assert entry(1000).is_fresh(1000 + FRESH_FOR - 1)
    assert not entry(1000).is_fresh(1000 + FRESH_FOR)
    assert not entry(1000).is_fresh(999)


def test_the_cache_is_where_the_xdg_specification_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
    assert cache_folder() == Path("/caches/flatcar-gpu/releases")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", "/home/someone")
    assert cache_folder() == Path("/home/someone/.cache/flatcar-gpu/releases")


def test_a_fresh_cache_is_used_and_nothing_asked(tmp_path: Path, no_network: None) -> None:
    write_entry(tmp_path, entry(time.time() - 60))
    loaded = load(["stable"], Access(SERVER, cache=tmp_path))
    (part,) = loaded.parts
    assert part.provenance.source is Source.CACHE
    assert part.provenance.location == URL
    assert part.provenance.newest == "2026-03-01"
    assert not len(loaded.report)


def test_offline_an_old_cache_comes_before_the_snapshot(tmp_path: Path, no_network: None) -> None:
    write_entry(tmp_path, entry(time.time() - 10 * FRESH_FOR))
    loaded = load(CHANNELS, offline(tmp_path))
    assert {part.provenance.source for part in loaded.parts} == {Source.OLD_CACHE, Source.SNAPSHOT}
    assert str(loaded.index.current["stable"]) == "4459.2.10"
    assert loaded.index.current["alpha"] == snapshot().current["alpha"]
    assert not len(loaded.report)


def test_offline_in_an_empty_home_the_snapshot_has_everything(no_network: None) -> None:
    assert load(CHANNELS, offline()).index == snapshot()


def test_a_file_is_read_whatever_its_channels(tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_bytes(release_json(json.loads(STABLE) | json.loads(LTS)))
    for index_url in (str(file), file.as_uri()):
        loaded = load(["lts-2024"], offline(index_url=index_url))
        assert len(loaded.index) == 6
        assert [part.provenance.source for part in loaded.parts] == [Source.FILE]


def test_a_folder_is_searched_for_the_channels_file_then_for_that_of_all(tmp_path: Path) -> None:
    (tmp_path / "releases-stable.json").write_bytes(STABLE)
    (tmp_path / "releases.json").write_bytes(release_json({"4487.0.0": row("alpha", "2025-10-14")}))
    access = offline(index_url=str(tmp_path))
    assert set(load(["stable"], access).index.current) == {"stable"}
    found = resolve_release("alpha", access, now=0)
    assert str(found.release.version) == "4487.0.0"
    assert [problem.message for problem in found.report] == [
        "the index does not say which alpha release is current; 4487.0.0 is the highest"
    ]
    assert {str(release.channel) for release in load(CHANNELS, access).index} == {"stable", "alpha"}


def test_the_year_of_an_lts_is_found_in_the_file_of_all_years_or_its_own(tmp_path: Path) -> None:
    access = offline(index_url=str(tmp_path))
    (tmp_path / "releases-lts-2024.json").write_bytes(LTS)
    assert str(resolve_release("lts-2024", access, now=0).release.version) == "4081.3.10"
    (tmp_path / "releases-lts.json").write_bytes(LTS)
    assert load(["lts-2024"], access).parts[0].provenance.location.endswith("releases-lts.json")


@pytest.mark.parametrize(
    ("index_url", "says"),
    [
        ("/nowhere", "there is no release index at /nowhere"),
        ("", "there is no release index at "),
        ("ftp://example.org/x", "an index cannot be read from ftp://"),
    ],
)
def test_a_local_index_that_is_not_there_is_an_error(index_url: str, says: str) -> None:
    with pytest.raises(Failure, match=says):
        load(["stable"], offline(index_url=index_url))


def test_an_empty_folder_is_an_error_that_names_the_files_looked_for(tmp_path: Path) -> None:
    with pytest.raises(Failure, match=r"has no releases-lts\.json or releases-lts-2024\.json or releases\.json"):
        load(["lts-2024"], offline(index_url=str(tmp_path)))


def test_a_local_file_that_is_no_release_json_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "releases-stable.json").write_text("<html>")
    with pytest.raises(UnusableIndex, match="is a web page"):
        load(["stable"], offline(index_url=str(tmp_path)))


def test_an_unknown_channel_is_an_error_that_names_the_channels() -> None:
    with pytest.raises(Failure, match="'gamma' is not a channel") as caught:
        load(["gamma"], offline())
    assert "stable" in caught.value.hint


def test_a_file_url_is_the_path_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "with space"
    folder.mkdir()
    assert local_path(folder.as_uri()) == folder


def test_a_query_stays_behind_the_file_name() -> None:
    assert list(urls("https://mirror.example/a/?sig=x", "stable")) == [
        "https://mirror.example/a/releases-stable.json?sig=x",
        "https://mirror.example/a/releases.json?sig=x",
    ]
    assert urls("https://mirror.example/mine.json?sig=x", "stable") == {"https://mirror.example/mine.json?sig=x": None}


def test_a_url_is_shown_without_its_secrets() -> None:
    assert shown("https://user:secret@mirror.example:8443/a/b?sig=secret#c") == "https://mirror.example:8443/a/b"
    assert shown("https://mirror.example?sig=secret/x@y") == "https://mirror.example"


def test_a_version_that_is_known_warns_of_nothing_and_needs_no_network(no_network: None) -> None:
    found = resolve_release("2905.2.0", Access(SERVER, cache=None))
    assert found.release.kernel == "5.10.52"
    assert found.provenance.source is Source.SNAPSHOT
    assert not len(found.report)


def test_a_known_version_is_taken_from_the_cache_of_any_age_first(tmp_path: Path, no_network: None) -> None:
    write_entry(tmp_path, entry(0))
    found = resolve_release("4459.2.10", Access(SERVER, cache=tmp_path))
    assert found.provenance.source is Source.OLD_CACHE
    assert not len(found.report)


def test_a_known_version_is_found_in_a_local_index_or_else_in_the_snapshot(tmp_path: Path) -> None:
    (tmp_path / "releases-stable.json").write_bytes(STABLE)
    access = offline(index_url=str(tmp_path))
    assert resolve_release("4459.2.10", access).provenance.source is Source.FILE
    assert resolve_release("2905.2.0", access).provenance.source is Source.SNAPSHOT


@pytest.mark.parametrize(
    ("text", "says", "hint"),
    [
        ("v4593.2.5", "neither a Flatcar version nor a channel", "write 4593.2.5"),
        ("newest", "neither a Flatcar version nor a channel", "lts-2024"),
        ("lts-1999", "neither a Flatcar version nor a channel", "lts-YEAR"),
        ("lts-2099", "the release index has no lts-2099 release", "lts-2024"),
        ("4593.2.999", "the release index has no 4593.2.999", "4593.2.5"),
        (
            "4694.1.1",
            "the release index has no 4694.1.1",
            "never listed (flatcar/scripts tag beta-4694.1.1)",
        ),
        ("9999.0.0", "the release index has no 9999.0.0", "without --offline"),
    ],
)
def test_what_names_no_known_release_is_an_error_with_a_way_out(text: str, says: str, hint: str) -> None:
    with pytest.raises(Failure) as caught:
        resolve_release(text, offline())
    assert says in caught.value.message
    assert hint in caught.value.hint


def test_a_channel_from_old_data_is_warned_of_and_a_younger_one_is_not(tmp_path: Path) -> None:
    write_entry(tmp_path, entry(0))
    day = 24 * 3600
    newest = 1772323200  # 2026-03-01
    for days, warnings in ((OLD_AFTER_DAYS, 0), (OLD_AFTER_DAYS + 1, 1)):
        found = resolve_release("stable", offline(tmp_path), now=newest + days * day)
        assert str(found.release.version) == "4459.2.10"
        assert found.report.warning_count == warnings
    assert [problem.message for problem in found.report] == [
        "stable was taken to be 4459.2.10 from data whose latest release is 61 days old"
    ]


def test_a_provenance_says_what_where_and_how_old() -> None:
    now = 1772323200.0 + 3 * 24 * 3600
    found = Provenance(Source.CACHE, URL, "2026-03-01", checked=now - 7200)
    assert found.as_text(now) == f"cache {URL}, checked 2 hours ago, latest release 2026-03-01 (3 days old)"
    assert found.as_dict(now) == {
        "source": "cache",
        "location": URL,
        "checked_seconds_ago": 7200,
        "latest_release": "2026-03-01",
        "age_days": 3,
    }


def test_no_cache_folder_is_no_reason_to_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    assert cache_folder() is None
    write_entry(None, entry(0))
    assert read_entry(None, URL) is None


def test_the_real_files_in_a_folder_are_read() -> None:
    folder = str(require_shared("data/flatcar/releases-json"))
    loaded = load(CHANNELS, offline(index_url=folder))
    assert len(loaded.index) == 540
    assert not len(loaded.report)
    assert loaded.index == snapshot()


def test_the_real_file_of_all_channels_is_read() -> None:
    file = str(require_shared("data/flatcar/releases-json/releases.json"))
    index = load(CHANNELS, offline(index_url=file)).index
    assert len(index) == 540
    assert str(index.current["stable"]) == "4593.2.5"
    assert str(index.current["lts-2023"]) == "3510.3.8"
    alpha = index.current_release("alpha")
    assert alpha is not None
    assert str(alpha.version) == "4790.0.0"
