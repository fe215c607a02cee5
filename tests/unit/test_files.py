from __future__ import annotations

import errno
import os
import stat
import threading
from typing import TYPE_CHECKING

import pytest

from flatcar_gpu.errors import Failure
from flatcar_gpu.files import PRIVATE, read_input, write_output

if TYPE_CHECKING:
    from pathlib import Path


def test_a_new_file_gets_the_mode_asked_for_whatever_the_umask(tmp_path: Path) -> None:
    old = os.umask(0o077)
    try:
        write_output(str(tmp_path / "public"), b"x")
    finally:
        os.umask(old)
    write_output(str(tmp_path / "private"), b"x", mode=PRIVATE)
    assert stat.S_IMODE((tmp_path / "public").stat().st_mode) == 0o644
    assert stat.S_IMODE((tmp_path / "private").stat().st_mode) == 0o600


def test_a_failed_write_leaves_the_old_file_and_no_debris(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "node.ign"
    target.write_bytes(b"old")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Failure, match=r"cannot write .*node\.ign: No space left on device"):
        write_output(str(target), b"new")
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


def test_through_a_symbolic_link_the_file_behind_it_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    write_output(str(tmp_path / "link"), b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()))
    reader.start()
    write_output(str(pipe), b"data")
    reader.join()
    assert received == [b"data"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_directory_and_a_missing_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="it is a directory"):
        write_output(str(tmp_path), b"x")
    with pytest.raises(Failure, match=r"cannot write .*No such file or directory"):
        write_output(str(tmp_path / "missing" / "file"), b"x")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(Failure, match=r"cannot read .*absent\.yaml: No such file or directory"):
        read_input(str(tmp_path / "absent.yaml"))
