"""The release index over real HTTP, from servers that are slow, broken or gone."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flatcar_gpu.cli import run
from flatcar_gpu.flatcar import fetch as fetching
from flatcar_gpu.flatcar.access import Access
from flatcar_gpu.flatcar.cache import FRESH_FOR, Entry, read_entry, write_entry
from flatcar_gpu.flatcar.fetch import NotFound, Unreachable, fetch
from flatcar_gpu.flatcar.index import CHANNELS
from flatcar_gpu.flatcar.release_json import parse_releases
from flatcar_gpu.flatcar.release_server import behind_server, version_url
from flatcar_gpu.flatcar.resolve import resolve_release
from flatcar_gpu.flatcar.snapshot import snapshot
from flatcar_gpu.flatcar.sources import Source, load
from tests.loopback import Loopback, Reply, loopback
from tests.release_files import LTS, STABLE, release_json, row
from tests.shared_data import require_shared

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]


@pytest.fixture
def server() -> Iterator[Loopback]:
    with loopback() as found:
        yield found


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "PAUSE", 0.01)


def access(server: Loopback, cache: Path | None = None, **changes: float) -> Access:
    return Access(server.url, timeout=changes.get("timeout", 5.0), cache=cache, refresh=bool(changes.get("refresh")))


def said(report: object) -> str:
    return "\n".join(problem.message for problem in report)  # type: ignore[attr-defined]


def test_the_channels_file_is_fetched_and_kept(server: Loopback, tmp_path: Path) -> None:
    server.replies["/releases-stable.json"] = Reply(STABLE)
    loaded = load(["stable"], access(server, tmp_path))
    assert str(loaded.index.current["stable"]) == "4459.2.10"
    assert loaded.parts[0].provenance.source is Source.FETCHED
    again = load(["stable"], access(server, tmp_path))
    assert again.index == loaded.index
    assert again.parts[0].provenance.source is Source.CACHE
    assert server.paths == ["/releases-stable.json"]


def test_what_is_unchanged_is_not_sent_again_and_is_fresh_from_then_on(server: Loopback, tmp_path: Path) -> None:
    headers = {"ETag": '"one"', "Last-Modified": "Mon, 02 Mar 2026 10:00:00 GMT"}
    server.replies["/releases-stable.json"] = Reply(STABLE, headers=headers)
    first = load(["stable"], access(server, tmp_path))
    url = f"{server.url}/releases-stable.json"
    entry = read_entry(tmp_path, url)
    assert entry is not None
    write_entry(tmp_path, Entry(url, entry.index, time.time() - 2 * FRESH_FOR, entry.etag, entry.last_modified))
    second = load(["stable"], access(server, tmp_path))
    assert second.index == first.index
    assert second.parts[0].provenance.source is Source.UNCHANGED
    assert server.asked[1][1]["If-None-Match"] == '"one"'
    assert server.asked[1][1]["If-Modified-Since"] == "Mon, 02 Mar 2026 10:00:00 GMT"
    renewed = read_entry(tmp_path, url)
    assert renewed is not None
    assert renewed.is_fresh(time.time())
    assert renewed.etag == '"one"'


def test_redirects_are_followed(server: Loopback) -> None:
    server.replies["/releases-stable.json"] = Reply(status=302, headers={"Location": "/moved/releases.json"})
    server.replies["/moved/releases.json"] = Reply(STABLE)
    assert len(load(["stable"], access(server)).index) == 3


def test_a_compressed_answer_is_unpacked(server: Loopback) -> None:
    server.replies["/releases-stable.json"] = Reply(gzip.compress(STABLE), headers={"Content-Encoding": "gzip"})
    assert len(load(["stable"], access(server)).index) == 3


@pytest.mark.parametrize("trouble", [Reply(status=503), Reply(status=500), Reply(status=429), Reply(STABLE, cut=True)])
def test_passing_trouble_is_tried_again(server: Loopback, trouble: Reply) -> None:
    server.replies["/releases-stable.json"] = [trouble, trouble, Reply(STABLE)]
    loaded = load(["stable"], access(server))
    assert loaded.parts[0].provenance.source is Source.FETCHED
    assert not len(loaded.report)
    assert len(server.asked) == 3


def test_a_pause_that_the_server_asks_for_is_kept(server: Loopback) -> None:
    server.replies["/x"] = [Reply(status=503, headers={"Retry-After": "1"}), Reply(b"x")]
    start = time.monotonic()
    assert fetch(f"{server.url}/x", timeout=5).data == b"x"
    assert time.monotonic() - start >= 1


BROKEN = {
    "overloaded": (Reply(b"sorry", status=503), "the server answers 503 Service Unavailable (tried 3 times)"),
    "forbidden": (Reply(status=403), "the server answers 403 Forbidden"),
    "cut off on the way": (Reply(STABLE, cut=True), "the answer was cut off or damaged"),
    "truncated": (Reply(STABLE[:200]), "is cut off"),
    "empty": (Reply(b""), "is empty"),
    "a web page": (Reply(b"<html>maintenance</html>"), "is a web page, not release JSON"),
    "of another shape": (Reply(b'["4459.2.0"]'), "its top level is not an object"),
    "without a release": (Reply(b'{"current": {}}'), "lists no release"),
    "not gzip": (Reply(STABLE, headers={"Content-Encoding": "gzip"}), "the answer was cut off or damaged"),
}


@pytest.mark.parametrize(("reply", "says"), BROKEN.values(), ids=BROKEN.keys())
def test_a_bad_answer_is_a_warning_and_leaves_the_cache_as_it_was(
    server: Loopback, tmp_path: Path, reply: Reply, says: str
) -> None:
    server.replies["/releases-stable.json"] = Reply(STABLE)
    load(["stable"], access(server, tmp_path))
    (file,) = tmp_path.iterdir()
    kept = file.read_bytes()
    server.replies["/releases-stable.json"] = reply
    loaded = load(["stable"], access(server, tmp_path, refresh=True))
    assert says in said(loaded.report)
    assert "instead the cache is used" in said(loaded.report)
    assert str(loaded.index.current["stable"]) == "4459.2.10"
    assert list(tmp_path.iterdir()) == [file]
    assert file.read_bytes() == kept


def test_without_a_cache_a_bad_answer_leads_to_the_snapshot(server: Loopback) -> None:
    server.replies["/releases-stable.json"] = Reply(b"<html>")
    loaded = load(["stable"], access(server))
    assert loaded.index == snapshot().only("stable")
    assert "instead the snapshot in the package is used" in said(loaded.report)


def test_an_old_cache_is_used_where_the_server_is_down(server: Loopback, tmp_path: Path) -> None:
    url = f"{server.url}/releases-stable.json"
    server.replies["/releases-stable.json"] = Reply(status=502)
    write_entry(tmp_path, Entry(url, parse_releases(STABLE, name="x", channel="stable")[0], 0))
    loaded = load(["stable"], access(server, tmp_path))
    assert loaded.parts[0].provenance.source is Source.OLD_CACHE
    assert "instead the old cache is used" in said(loaded.report)


def test_a_large_file_is_read_and_one_too_large_refused(server: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    notes = "n" * 3_600_000
    data = release_json({"4459.2.0": row("stable", "2025-11-12", release_notes=notes)}, current="4459.2.0")
    server.replies["/releases-stable.json"] = Reply(data)
    assert str(load(["stable"], access(server)).index.current["stable"]) == "4459.2.0"
    monkeypatch.setattr(fetching, "SIZE_LIMIT", 1024 * 1024)
    assert "is larger than 1 MB" in said(load(["stable"], access(server)).report)


def test_a_server_that_does_not_answer_in_time_is_given_up(server: Loopback) -> None:
    server.replies["/x"] = Reply(b"x", delay=0.5)
    with pytest.raises(Unreachable, match=r"no answer within 0\.1 seconds \(tried 3 times\)"):
        fetch(f"{server.url}/x", timeout=0.1)


def test_a_server_that_is_gone_is_asked_for_one_file_only() -> None:
    with loopback() as gone:
        url = gone.url
    loaded = load(CHANNELS, Access(url, cache=None))
    assert loaded.report.warning_count == 1
    assert "Connection refused (tried 3 times)" in said(loaded.report)
    assert loaded.index == snapshot()


def test_a_file_that_is_not_there_is_looked_for_under_its_other_names(server: Loopback, tmp_path: Path) -> None:
    server.replies["/releases.json"] = Reply(release_json(json.loads(LTS)))
    loaded = load(["lts-2024"], access(server, tmp_path))
    assert server.paths == ["/releases-lts.json", "/releases-lts-2024.json", "/releases.json"]
    assert str(loaded.index.current["lts-2024"]) == "4081.3.10"
    load(["lts-2024"], access(server, tmp_path))
    assert len(server.asked) == 3


def test_a_file_of_all_channels_is_fetched_once(server: Loopback, tmp_path: Path) -> None:
    server.replies["/all.json"] = Reply(release_json(json.loads(STABLE) | json.loads(LTS)))
    loaded = load(CHANNELS, Access(f"{server.url}/all.json", cache=tmp_path, refresh=True))
    assert server.paths == ["/all.json"]
    assert len(loaded.index) == 6


def test_offline_nothing_is_asked(server: Loopback, tmp_path: Path) -> None:
    for channels in (["stable"], CHANNELS):
        load(channels, Access(server.url, offline=True, refresh=True, cache=tmp_path))
    resolve_release("stable", Access(server.url, offline=True, cache=tmp_path))
    assert run(["releases", "current", "--offline", "--index-url", server.url]) == 0
    assert server.asked == []


def test_a_version_unknown_here_is_looked_for_on_the_server(server: Loopback, tmp_path: Path) -> None:
    server.replies["/releases-stable.json"] = Reply(release_json({"9000.2.0": row("stable", "2038-02-01")}))
    found = resolve_release("9000.2.0", access(server, tmp_path))
    assert found.provenance.source is Source.FETCHED
    assert found.provenance.location.endswith("/releases-stable.json")


def test_a_password_in_the_url_is_sent_but_neither_kept_nor_shown(server: Loopback, tmp_path: Path) -> None:
    server.replies["/releases-stable.json"] = Reply(STABLE)
    url = server.url.replace("://", "://user:secret@")
    loaded = load(["stable"], Access(url, cache=tmp_path))
    assert server.asked[0][1]["Authorization"].startswith("Basic ")
    (file,) = tmp_path.iterdir()
    assert "secret" not in file.name + file.read_text() + repr(loaded.parts[0].provenance)
    server.replies.clear()
    assert "secret" not in said(load(["stable"], Access(url, cache=tmp_path, refresh=True)).report)


def test_missing_files_are_told_from_servers_that_are_gone(server: Loopback) -> None:
    with pytest.raises(NotFound, match="404"):
        fetch(f"{server.url}/nothing", timeout=5)
    assert len(server.asked) == 1


def test_an_unwritable_cache_is_a_warning(server: Loopback, tmp_path: Path) -> None:
    server.replies["/releases-stable.json"] = Reply(STABLE)
    (tmp_path / "file").write_text("")
    loaded = load(["stable"], access(server, tmp_path / "file" / "below"))
    assert "the release index is not kept: cannot make the cache folder" in said(loaded.report)
    assert len(loaded.index) == 3


VERSION_TXT = b'FLATCAR_BUILD=4459\nFLATCAR_VERSION=4459.2.11\nFLATCAR_VERSION_ID=4459.2.11\nFLATCAR_BUILD_ID="x"\n'


def test_an_index_behind_the_release_server_is_a_warning(server: Loopback) -> None:
    server.replies["/stable/amd64-usr/current/version.txt"] = Reply(VERSION_TXT)
    release = parse_releases(STABLE, name="x", channel="stable")[0].current_release("stable")
    assert release is not None
    report = behind_server("stable", release, f"{server.url}/{{channel}}", timeout=5)
    assert said(report) == (
        "the release index is behind: it has 4459.2.10 as the current stable release, "
        "the release server already has 4459.2.11"
    )


@pytest.mark.parametrize("reply", [Reply(status=404), Reply(b"<html>"), Reply(b"FLATCAR_VERSION=main\n"), Reply(b"")])
def test_a_release_server_of_no_help_is_a_warning(server: Loopback, reply: Reply) -> None:
    server.replies["/amd64-usr/current/version.txt"] = reply
    release = parse_releases(STABLE, name="x", channel="stable")[0].current_release("stable")
    assert release is not None
    assert "whether 4459.2.10 is still the current stable release is not known" in said(
        behind_server("stable", release, server.url, timeout=5)
    )


def test_version_txt_is_beside_the_images_of_the_channel() -> None:
    assert version_url("stable") == "https://stable.release.flatcar-linux.net/amd64-usr/current/version.txt"
    assert version_url("lts-2024") == "https://lts.release.flatcar-linux.net/amd64-usr/current-2024/version.txt"


def test_a_real_version_txt_is_read(server: Loopback) -> None:
    text = require_shared("data/flatcar/version-txt/scripts-tag-stable-4593.2.5-manifest-version.txt").read_bytes()
    server.replies["/amd64-usr/current/version.txt"] = Reply(text)
    release = snapshot().current_release("stable")
    assert release is not None
    assert not len(behind_server("stable", release, server.url, timeout=5))


def test_current_asks_the_release_server_only_when_it_went_to_the_network(
    server: Loopback, capsys: pytest.CaptureFixture[str]
) -> None:
    server.replies["/releases-stable.json"] = Reply(STABLE)
    server.replies["/amd64-usr/current/version.txt"] = Reply(VERSION_TXT)
    args = ["releases", "current", "--index-url", server.url, "--release-server", server.url]
    assert run(args) == 0
    out, err = capsys.readouterr()
    assert out == "4459.2.10\n"
    assert "the release server already has 4459.2.11" in err
    assert run(args) == 0
    assert "already has" not in capsys.readouterr().err
    assert server.paths == ["/releases-stable.json", "/amd64-usr/current/version.txt"]


def test_an_update_says_for_each_channel_what_came_of_it(server: Loopback, capsys: pytest.CaptureFixture[str]) -> None:
    server.replies["/releases-stable.json"] = Reply(STABLE, headers={"ETag": '"1"'})
    server.replies["/releases-lts.json"] = Reply(LTS, headers={"ETag": '"2"'})
    args = ["releases", "update", "--index-url", server.url, "--channel", "stable", "--channel", "lts"]
    assert run(args) == 0
    assert capsys.readouterr().out.splitlines() == [
        "CHANNEL  CURRENT    LATEST RELEASE  INDEX",
        "stable   4459.2.10  2026-03-01      fetched",
        "lts      4081.3.10  2026-03-02      fetched",
    ]
    assert run(args) == 0
    assert capsys.readouterr().out.count("unchanged on the server") == 2
    server.replies["/releases-lts.json"] = Reply(b"<html>")
    assert run(args) == 1
    out, err = capsys.readouterr()
    assert out.splitlines()[-1].split() == ["lts", "4081.3.10", "2026-03-02", "cache"]
    assert "error: the release index of lts could not be updated" in err


def test_updating_a_channel_that_is_not_there_fails(server: Loopback, capsys: pytest.CaptureFixture[str]) -> None:
    server.replies["/releases-lts.json"] = Reply(LTS)
    assert run(["releases", "update", "--index-url", server.url, "--channel", "lts-2099"]) == 1
    out, err = capsys.readouterr()
    assert out.splitlines()[1].split() == ["lts-2099", "-", "-", "not", "known"]
    assert "could not be updated" in err


def test_what_is_said_as_json_is_one_document(server: Loopback, capsys: pytest.CaptureFixture[str]) -> None:
    server.replies["/releases-stable.json"] = Reply(STABLE)
    server.replies["/amd64-usr/current/version.txt"] = Reply(VERSION_TXT)
    args = ["--index-url", server.url, "--release-server", server.url, "--error-format", "json", "--channel", "stable"]
    assert run(["releases", "current", *args]) == 0
    said_first = json.loads(capsys.readouterr().err)["diagnostics"]
    assert any("already has 4459.2.11" in problem["summary"] for problem in said_first)
    server.replies.clear()
    assert run(["releases", "update", *args]) == 1
    severities = [problem["severity"] for problem in json.loads(capsys.readouterr().err)["diagnostics"]]
    assert severities == ["warning", "error"]


def test_ten_updates_at_once_leave_one_whole_cache(server: Loopback, tmp_path: Path) -> None:
    padding = "n" * 200_000
    rows = {f"4459.2.{patch}": row("stable", "2026-03-01", release_notes=padding) for patch in range(5)}
    server.replies["/releases-stable.json"] = Reply(release_json(rows, current="4459.2.4"), delay=0.3)
    command = [sys.executable, "-m", "flatcar_gpu", "releases", "update", "--channel", "stable"]
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    read = threading.Event()
    url = f"{server.url}/releases-stable.json"
    folder = tmp_path / "flatcar-gpu" / "releases"
    running = [
        subprocess.Popen([*command, "--index-url", server.url], env=environment, stdout=subprocess.DEVNULL)
        for _ in range(10)
    ]
    while any(process.poll() is None for process in running):
        # Whoever reads in the meantime finds nothing yet or a whole entry, never a part of one.
        if folder.is_dir() and any(not path.name.startswith(".") for path in folder.iterdir()):
            assert read_entry(folder, url) is not None
            read.set()
        time.sleep(0.01)
    assert [process.returncode for process in running] == [0] * 10
    assert read.is_set()
    (file,) = folder.iterdir()
    entry = read_entry(folder, url)
    assert entry is not None
    assert file.name.startswith("127.0.0.1-")
    assert str(entry.index.current["stable"]) == "4459.2.4"
    assert len(server.asked) == 10


@pytest.mark.parametrize(
    ("channel", "version"),
    [("stable", "4593.2.5"), ("lts-2024", "4081.3.10"), ("lts-2021", "2605.32.1"), ("alpha", "4790.0.0")],
)
def test_the_real_files_give_the_real_current_releases(
    server: Loopback, channel: str, version: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for file in require_shared("data/flatcar/releases-json").iterdir():
        server.replies[f"/{file.name}"] = Reply(file.read_bytes())
    assert run(["releases", "current", "--channel", channel, "--index-url", server.url]) == 0
    assert capsys.readouterr().out == f"{version}\n"


def test_the_real_file_of_all_channels_is_taken_where_it_is_the_only_one(
    server: Loopback, capsys: pytest.CaptureFixture[str]
) -> None:
    data = require_shared("data/flatcar/releases-json/releases.json").read_bytes()
    server.replies["/releases.json"] = Reply(data)
    assert run(["releases", "current", "--channel", "lts-2023", "--index-url", server.url]) == 0
    assert capsys.readouterr().out == "3510.3.8\n"
