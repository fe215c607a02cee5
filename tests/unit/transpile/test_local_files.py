"""Local files and trees that are not what they should be."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from flatcar_gpu.transpile import Result, local_files, transpile

if TYPE_CHECKING:
    from pathlib import Path


def embed(name: str, folder: Path, *, follow_outside: bool = True) -> Result:
    text = f"variant: flatcar\nversion: 1.0.0\nstorage: {{files: [{{path: /a, contents: {{local: {name}}}}}]}}\n"
    return transpile(text.encode(), files_dir=str(folder), follow_outside=follow_outside)


def plant(name: str, folder: Path, *, follow_outside: bool = True) -> Result:
    text = f"variant: flatcar\nversion: 1.0.0\nstorage: {{trees: [{{local: {name}}}]}}\n"
    return transpile(text.encode(), files_dir=str(folder), follow_outside=follow_outside)


def messages(result: Result) -> list[str]:
    return [problem.message for problem in result.report]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "secret").write_text("outside")
    inside = tmp_path / "files"
    (inside / "tree").mkdir(parents=True)
    (inside / "hello").write_text("hello")
    (inside / "in").symlink_to("hello")
    (inside / "out").symlink_to("../secret")
    (inside / "tree/out").symlink_to("../../secret")
    return inside


def test_a_pipe_is_refused_and_not_waited_for(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    assert messages(embed("pipe", folder)) == [f"read {folder}/pipe: not a regular file"]


def test_a_device_is_not_read_without_end(folder: Path) -> None:
    (folder / "zero").symlink_to("/dev/zero")
    assert messages(embed("zero", folder)) == [f"read {folder}/zero: not a regular file"]


def test_a_huge_file_is_refused_before_it_is_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (folder / "sparse").open("wb") as file:
        file.truncate(1 << 40)
    assert messages(embed("sparse", folder)) == [f"read {folder}/sparse: local files of more than 1024 MiB in total"]
    monkeypatch.setattr(local_files, "MAX_TOTAL", 6)
    (folder / "tree/one").write_text("1234")
    (folder / "tree/two").write_text("1234")
    assert len(messages(plant("tree", folder))) == 1


def test_links_are_followed_unless_they_must_not_lead_outside(folder: Path) -> None:
    assert embed("out", folder).ignition is not None
    assert embed("in", folder, follow_outside=False).ignition is not None
    refused = f"{folder}/out is a symbolic link that leads outside the files directory"
    assert messages(embed("out", folder, follow_outside=False)) == [refused]
    assert len(messages(plant("tree", folder, follow_outside=False))) == 1


def test_a_name_with_a_nul_is_an_error(folder: Path) -> None:
    assert messages(embed('"a\\0b"', folder)) == [f"open {folder}/a\0b: invalid argument"]
    assert messages(plant('"a\\0b"', folder)) == [f"stat {folder}/a\0b: invalid argument"]


def test_names_that_are_not_utf8_become_replacement_characters(folder: Path) -> None:
    (folder / "tree/out").unlink()
    with open(os.fsencode(folder / "tree") + b"/\xff", "wb") as file:  # noqa: PTH123  bytes, not text
        file.write(b"x")
    result = plant("tree", folder)
    assert result.ignition is not None
    assert b'"path":"/\\ufffd"' in result.ignition
