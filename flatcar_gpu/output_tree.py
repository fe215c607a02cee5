"""A folder of rendered files: what would change in it, and replacing it as a whole or not at all."""

from __future__ import annotations

import difflib
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from flatcar_gpu.errors import Failure

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# Lists what was rendered, so that a file of somebody else is never taken for one of ours.
MANIFEST = ".flatcar-gpu"


@dataclass(frozen=True, slots=True)
class Changes:
    """Paths below the folder."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]
    unchanged: int

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.removed)

    def __iter__(self) -> Iterator[str]:
        yield from (f"new: {path}" for path in self.added)
        yield from (f"changed: {path}" for path in self.changed)
        yield from (f"removed: {path}" for path in self.removed)


@dataclass(frozen=True, slots=True)
class OutputTree:
    """The folder, and what it holds from the last time."""

    folder: Path
    before: Mapping[str, bytes]

    @classmethod
    def read(cls, path: str) -> OutputTree:
        """Raises Failure where the folder holds anything that was not rendered, or cannot be read."""
        folder = Path(path)
        try:
            if not folder.exists():
                return cls(folder, {})
            ours = (folder / MANIFEST).read_text().splitlines() if (folder / MANIFEST).exists() else []
            found = {str(file.relative_to(folder)) for file in folder.rglob("*") if not file.is_dir()} - {MANIFEST}
            if foreign := sorted(found - set(ours)):
                raise Failure(
                    f"{path} holds files that were not rendered: {', '.join(foreign[:5])}",
                    hint="name a folder of its own: it is replaced as a whole",
                )
            return cls(folder, {name: (folder / name).read_bytes() for name in ours if name in found})
        except OSError as error:
            raise Failure(f"cannot read {path}: {error.strerror}") from None

    def changes(self, files: Mapping[str, bytes]) -> Changes:
        return Changes(
            added=tuple(name for name in files if name not in self.before),
            changed=tuple(name for name in files if name in self.before and self.before[name] != files[name]),
            removed=tuple(name for name in self.before if name not in files),
            unchanged=sum(self.before.get(name) == data for name, data in files.items()),
        )

    def diff(self, files: Mapping[str, bytes]) -> str:
        """The changes as a unified diff."""
        text: list[str] = []
        for name in sorted({*self.before, *files}):
            old, new = (tree.get(name, b"").decode().splitlines(keepends=True) for tree in (self.before, files))
            text += difflib.unified_diff(old, new, f"{self.folder}/{name}", f"{self.folder}/{name}")
        return "".join(line if line.endswith("\n") else line + "\n" for line in text)

    def replace(self, files: Mapping[str, bytes]) -> None:
        """Make the folder hold `files` and nothing else.

        The new tree is complete before it takes the place of the old one. Raises Failure where it cannot be written;
        the old tree is then untouched.
        """
        parent = self.folder.absolute().parent
        try:
            with tempfile.TemporaryDirectory(dir=parent, prefix=f".{self.folder.name}.") as temporary:
                new, old = Path(temporary, "new"), Path(temporary, "old")
                for name, data in {**files, MANIFEST: "".join(f"{name}\n" for name in files).encode()}.items():
                    (new / name).parent.mkdir(parents=True, exist_ok=True)
                    (new / name).write_bytes(data)
                if self.folder.exists():
                    self.folder.rename(old)
                try:
                    new.rename(self.folder)
                except BaseException:
                    if old.exists():
                        old.rename(self.folder)
                    raise
        except OSError as error:
            raise Failure(f"cannot write {self.folder}: {error.strerror}") from None
