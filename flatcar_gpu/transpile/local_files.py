"""Files that a config embeds, below the files directory and nowhere else."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager
from typing import TYPE_CHECKING

from flatcar_gpu.transpile import messages
from flatcar_gpu.transpile.go_text import clean, join

if TYPE_CHECKING:
    from collections.abc import Iterator

# Far more than any machine takes as its config; a sparse file or a wrong folder must not eat the memory.
MAX_TOTAL = 1 << 30

# Go's own words for the errors that files bring (syscall.Errno.Error).
_GO_ERRORS = {
    errno.EACCES: "permission denied",
    errno.EISDIR: "is a directory",
    errno.ELOOP: "too many levels of symbolic links",
    errno.ENAMETOOLONG: "file name too long",
    errno.ENOENT: "no such file or directory",
    errno.ENOTDIR: "not a directory",
    errno.EPERM: "operation not permitted",
    errno.EIO: "input/output error",
}


class LocalFileError(Exception):
    """A local file that cannot be had; the text is Butane's where Butane has one."""


class LocalFiles:
    """The folder that `local`, `contents_local` and trees are relative to.

    Without a folder every use fails. With `follow_outside=False` symbolic links that lead out of the folder are
    refused; Butane follows them.
    """

    def __init__(self, folder: str | None, *, follow_outside: bool = True) -> None:
        self.folder = folder or ""
        self.follow_outside = follow_outside
        self.left = MAX_TOTAL

    def path(self, name: str) -> str:
        """Path of the local file `name`. Raises LocalFileError where it leaves the folder or there is none."""
        if not self.folder:
            raise LocalFileError(messages.NO_FILES_DIR)
        path = join(self.folder, name)
        inside = clean(os.path.abspath(self.folder))  # noqa: PTH100  Path.absolute() keeps `..`
        absolute = clean(os.path.abspath(path))  # noqa: PTH100
        if absolute != inside and not absolute.startswith(inside + "/"):
            raise LocalFileError(messages.LEAVES_FILES_DIR)
        return path

    def read(self, name: str) -> bytes:
        """Contents of the local file `name`. Raises LocalFileError."""
        return self.read_path(self.path(name))

    def read_path(self, path: str) -> bytes:
        """Contents of the regular file at a path below the folder. Raises LocalFileError."""
        self.refuse_outside(path)
        with go_errors("open", path):
            # Opening a FIFO would wait for a writer.
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            with go_errors("read", path):
                self._refuse(os.fstat(descriptor), path)
                with open(descriptor, "rb", closefd=False) as file:
                    contents = file.read()
        finally:
            os.close(descriptor)
        self.left -= len(contents)
        return contents

    def _refuse(self, found: os.stat_result, path: str) -> None:
        if stat.S_ISDIR(found.st_mode):
            raise IsADirectoryError(errno.EISDIR, "")
        if not stat.S_ISREG(found.st_mode):
            raise LocalFileError(f"read {path}: not a regular file")
        if found.st_size > self.left:
            raise LocalFileError(f"read {path}: local files of more than {MAX_TOTAL >> 20} MiB in total")

    def refuse_outside(self, path: str) -> None:
        """Raise LocalFileError if `path` leads out of the folder through symbolic links and must not."""
        if self.follow_outside:
            return
        with go_errors("lstat", path):
            inside, real = os.path.realpath(self.folder), os.path.realpath(path)
        if real != inside and not real.startswith(inside.rstrip("/") + "/"):
            raise LocalFileError(f"{path} is a symbolic link that leads outside the files directory")


@contextmanager
def go_errors(operation: str, path: str) -> Iterator[None]:
    """Raise what the system says of an operation as LocalFileError, in Go's words."""
    try:
        yield
    except ValueError:  # a NUL in the path
        raise LocalFileError(f"{operation} {path}: invalid argument") from None
    except OSError as error:
        raise LocalFileError(f"{operation} {path}: {_go_error(error)}") from None


def _go_error(error: OSError) -> str:
    return _GO_ERRORS.get(error.errno or 0) or (error.strerror or "").lower()
