"""Files are read with clear errors and written whole or not at all."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from flatcar_gpu.errors import Failure
from flatcar_gpu.report import STDIN

if TYPE_CHECKING:
    from collections.abc import Mapping

PUBLIC = 0o644
PRIVATE = 0o600


def read_input(path: str) -> tuple[str, bytes]:
    """Name to show and bytes of the file at `path`, `-` being stdin.

    Raises Failure where it cannot be read.
    """
    if path == "-":
        return STDIN, sys.stdin.buffer.read()
    try:
        return path, Path(path).read_bytes()
    except OSError as error:
        raise Failure(f"cannot read {path}: {error.strerror}") from None


def write_output(path: str, data: bytes, *, mode: int = PUBLIC) -> None:
    """Write `data` to `path`, `-` being stdout. A file gets `mode` and is replaced in one step.

    Raises Failure where it cannot be written; the old file is then untouched.
    """
    if path == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    try:
        # Through a symbolic link the file behind it is replaced, not the link.
        _write(Path(os.path.realpath(path)), data, mode)
    except OSError as error:
        raise Failure(f"cannot write {path}: {error.strerror}") from None


def _write(target: Path, data: bytes, mode: int) -> None:
    if target.exists() and not stat.S_ISREG(target.stat().st_mode):
        if target.is_dir():
            raise IsADirectoryError(0, "it is a directory")
        target.write_bytes(data)  # a terminal, a pipe, /dev/null: there is nothing to replace
        return
    import tempfile  # late: most runs write to stdout

    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_folder(path: str, files: Mapping[str, tuple[bytes, int]]) -> None:
    """Make the folder `path` with these files (names, contents and modes), whole or not at all.

    Raises Failure where it exists and is not empty, or cannot be written.
    """
    target = Path(path)
    try:
        if target.is_dir() and any(target.iterdir()):
            raise Failure(f"{path} is not empty", hint="name a folder that does not exist yet, or remove it")
        with tempfile.TemporaryDirectory(dir=target.absolute().parent, prefix=f".{target.name}.") as temporary:
            folder = Path(temporary, "folder")
            folder.mkdir()
            for name, (data, mode) in files.items():
                (folder / name).write_bytes(data)
                (folder / name).chmod(mode)
            folder.rename(target)
    except OSError as error:
        raise Failure(f"cannot write {path}: {error.strerror}") from None
