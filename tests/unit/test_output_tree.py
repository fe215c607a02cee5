from __future__ import annotations

import errno
import shutil
from pathlib import Path

import pytest

from flatcar_gpu.errors import Failure
from flatcar_gpu.output_tree import MANIFEST, OutputTree

OLD = {"values.yaml": b"old\n", "a/node.ign": b"same\n", "gone.yaml": b"x\n"}
NEW = {"values.yaml": b"new\n", "a/node.ign": b"same\n", "b/node.ign": b"added\n"}


def _tree(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    OutputTree.read(str(tmp_path / "out")).replace(OLD)
    return tmp_path / "out"


def test_a_second_rendering_says_what_changes_and_makes_it_so(folder: Path) -> None:
    tree = OutputTree.read(str(folder))
    assert list(tree.changes(NEW)) == ["new: b/node.ign", "changed: values.yaml", "removed: gone.yaml"]
    assert tree.changes(NEW).unchanged == 1
    tree.replace(NEW)
    assert {name: data for name, data in _tree(folder).items() if name != MANIFEST} == NEW
    assert not OutputTree.read(str(folder)).changes(NEW)


def test_the_diff_shows_lines(folder: Path) -> None:
    diff = OutputTree.read(str(folder)).diff(NEW)
    assert f"--- {folder}/values.yaml\n+++ {folder}/values.yaml\n@@ -1 +1 @@\n-old\n+new\n" in diff
    assert "node.ign\n@@ -0,0 +1 @@\n+added" in diff
    assert "same" not in diff


def test_files_of_somebody_else_are_never_replaced(folder: Path) -> None:
    (folder / "mine.txt").write_text("precious")
    with pytest.raises(Failure, match=r"files that were not rendered: mine\.txt"):
        OutputTree.read(str(folder))


@pytest.mark.parametrize("fails", ["write_bytes", "rename"])
def test_a_full_disk_leaves_the_old_tree(folder: Path, monkeypatch: pytest.MonkeyPatch, fails: str) -> None:
    original = getattr(Path, fails)
    calls = []

    def full(self: Path, *args: object) -> object:
        calls.append(self)
        # The first file is written and the old tree is set aside before the disk is full.
        if len(calls) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        return original(self, *args)

    before = _tree(folder)
    tree = OutputTree.read(str(folder))
    with monkeypatch.context() as patched:
        patched.setattr(Path, fails, full)
        with pytest.raises(Failure, match="No space left on device"):
            tree.replace(NEW)
    assert _tree(folder) == before
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_an_interrupt_leaves_the_old_tree(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = _tree(folder)
    tree = OutputTree.read(str(folder))

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_bytes", interrupted)
        with pytest.raises(KeyboardInterrupt):
            tree.replace(NEW)
    assert _tree(folder) == before
    shutil.rmtree(folder)
