from __future__ import annotations

import json
from typing import TYPE_CHECKING

from flatcar_gpu.flatcar import snapshot as module
from flatcar_gpu.flatcar.snapshot import read_folder, snapshot, snapshot_text
from flatcar_gpu.flatcar.version import Version
from flatcar_gpu.resources import data_text
from tests.release_files import LTS, STABLE, release_json, row
from tests.shared_data import require_shared

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_the_package_knows_every_release_up_to_its_making() -> None:
    assert len(snapshot()) >= 540
    assert {"alpha", "beta", "stable", "lts", "edge", "lts-2024"} <= set(snapshot().channels)
    first = snapshot().get(Version(2905, 2, 0))
    assert first is not None
    assert (first.channel, first.kernel, first.ignition) == ("stable", "5.10.52", "0.34.0")


def test_the_file_holds_facts_only() -> None:
    text = data_text("flatcar/data/snapshot.json")
    assert set(json.loads(text)) == {"current", "releases"}
    assert len(text) < 60_000


def test_the_file_is_what_the_maintainer_command_writes() -> None:
    assert snapshot_text(snapshot()) == data_text("flatcar/data/snapshot.json")


def test_the_snapshot_says_what_the_published_files_say() -> None:
    for expected in json.loads(require_shared("data/flatcar/releases-real.json").read_text())["releases"]:
        release = snapshot().get(Version.parse(expected["version"]))
        assert release is not None, expected["version"]
        found = release.as_dict()
        assert found == {key: expected[key] for key in found}


def test_every_kernel_has_all_its_releases() -> None:
    real = json.loads(require_shared("data/flatcar/kernel-to-versions.json").read_text())
    for kernel, versions in real.items():
        assert sorted(str(release.version) for release in snapshot().with_kernel(kernel)) == sorted(versions)


def test_the_pointers_of_the_published_files_are_kept() -> None:
    real = json.loads(require_shared("data/flatcar/releases-real.json").read_text())["meta"]["current"]
    for name, version in real.items():
        file, pointer = name.split(":")
        channel = file.removesuffix(".json").removeprefix("releases-")
        if pointer != "current":
            channel = pointer.replace("current", "lts")
        if channel != "releases.json" and channel in snapshot().current:
            assert str(snapshot().current[channel]) == version, name


def test_the_maintainer_command_reads_a_file_of_every_channel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    package = tmp_path / "package"
    (package / "data").mkdir(parents=True)
    monkeypatch.setattr(module, "__file__", str(package / "snapshot.py"))
    published = tmp_path / "published"
    published.mkdir()
    (published / "releases-stable.json").write_bytes(STABLE)
    (published / "releases-lts.json").write_bytes(LTS)
    assert module._main([str(published)]) == 1
    assert "releases-alpha.json: No such file" in capsys.readouterr().err
    for channel, version in (("alpha", "4487.0.0"), ("beta", "4459.1.0"), ("edge", "2466.99.0")):
        data = release_json({version: row(channel, "2025-10-14")}, current=version)
        (published / f"releases-{channel}.json").write_bytes(data)
    assert module._main([str(published)]) == 0
    assert "9 releases, the newest of 2026-03-02" in capsys.readouterr().err
    assert (package / "data" / "snapshot.json").read_text() == snapshot_text(read_folder(published)[0])
    assert module._main([]) == 2
