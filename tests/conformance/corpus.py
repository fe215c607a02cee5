"""The corpus: small Butane inputs, and what the real butane did with each of them."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = Path(__file__).parent / "butane"

# What Git and archives do not keep of the files that the inputs embed.
_EMPTY_FOLDER = "files/tree-emptydir/empty/deeper"
_PIPE = "files/tree-fifo/pipe"
_MODES = (0o644, 0o600, 0o444, 0o755, 0o700, 0o711, 0o654, 0o610, 0o601)
_LINKS = {
    "files/link-dangling": "nowhere",
    "files/link-outside": "../outside.txt",
    "files/link-to-hello": "hello.txt",
    "files/link-to-subdir": "sub/dir",
    "files/link-to-tree": "tree-basic",
    "files/tree-links/abs": "/etc/hosts",
    "files/tree-links/dangling": "nowhere",
    "files/tree-links/rel": "../up/./x",
    "files/tree-links/to-dir": "dir",
}


@dataclass
class Case:
    """One input and what butane printed for it; exit codes of a plain, pretty, strict and checking run."""

    name: str
    arguments: list[str] = field(default_factory=lambda: ["-d", "files"])
    codes: tuple[int, ...] = ()
    ordered: bool = True
    sections: dict[str, bytes] = field(default_factory=dict)

    @property
    def source(self) -> bytes:
        return (FOLDER / "inputs" / f"{self.name}.bu").read_bytes()

    @property
    def report(self) -> bytes:
        return self.sections.get("report", b"")

    @property
    def ignition(self) -> bytes | None:
        return self.sections.get("ignition")

    @property
    def files_dir(self) -> str | None:
        words = " ".join(self.arguments).replace("--files-dir=", "-d ").split()
        return words[words.index("-d") + 1] if "-d" in words else None


def cases() -> Iterator[Case]:
    """All cases, in the order of their names."""
    for path in sorted((FOLDER / "expected").glob("*.txt")):
        yield from _cases(path.read_bytes())


def _cases(text: bytes) -> Iterator[Case]:
    for block in text.removeprefix(b"=== ").split(b"\n=== "):
        head, *sections = block.removesuffix(b"\n").split(b"\n--- ")
        name, *lines = head.decode().split("\n")
        case = Case(name)
        for line in lines:
            key, _, value = line.partition(":")
            if key == "arguments":
                case.arguments = value.split()
            elif key == "codes":
                case.codes = tuple(map(int, value.split()))
            elif key == "order":
                case.ordered = False
        for section in sections:
            title, _, body = section.partition(b"\n")
            case.sections[title.decode()] = body + b"\n"
        yield case


def lay_out(folder: Path) -> None:
    """Copy the files that the inputs embed to `folder`, complete with links, modes, an empty folder and a pipe."""
    for name in ("files", "files-other"):
        shutil.copytree(FOLDER / name, folder / name)
    shutil.copy(FOLDER / "outside.txt", folder)
    for path in [path for path in folder.rglob("*") if path.is_file()]:
        path.chmod(0o755 if path.name == "run.sh" else 0o644)
    for mode in _MODES:
        (folder / f"files/tree-modes/f{mode:o}").chmod(mode)
    (folder / _EMPTY_FOLDER).mkdir(parents=True)
    os.mkfifo(folder / _PIPE)
    for name, target in _LINKS.items():
        (folder / name).symlink_to(target)
