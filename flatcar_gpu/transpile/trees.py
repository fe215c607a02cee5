"""Folders of local files that a config embeds as a whole (`storage.trees`)."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Any

from flatcar_gpu.transpile import messages
from flatcar_gpu.transpile.go_text import SURROGATES, join
from flatcar_gpu.transpile.local_files import LocalFileError, LocalFiles, go_errors
from flatcar_gpu.transpile.nodes import NodeExists, Nodes
from flatcar_gpu.transpile.resources import embedded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flatcar_gpu.transpile.paths import Path
    from flatcar_gpu.transpile.schema import Struct
    from flatcar_gpu.transpile.translation import Translation, Tree

PLAIN, EXECUTABLE, DIRECTORY = 0o644, 0o755, 0o755


def add_trees(trees: list[Tree], translation: Translation) -> None:
    """Append the nodes of `trees` to the config, or fill the user's own entries at the same paths."""
    nodes = Nodes(translation)
    for index, tree in enumerate(trees):
        source: Path = ("storage", "trees", index)
        files = translation.files
        if not files.folder:
            translation.findings.error(source, messages.NO_FILES_DIR)
            return
        try:
            root = _root(tree["local"], files)
        except LocalFileError as error:
            translation.findings.error(source, str(error))
            continue
        planted = _Tree(tree, source, nodes, translation)
        for path, status in _walk(root):
            try:
                planted.add(path, join(tree.get("path") or "/", os.path.relpath(path, root)), status)
            except (LocalFileError, NodeExists) as error:
                translation.findings.error(source, str(error))


def _root(name: str, files: LocalFiles) -> str:
    path = files.path(name)
    files.refuse_outside(path)
    with go_errors("stat", path):
        is_directory = stat.S_ISDIR(os.stat(path).st_mode)  # noqa: PTH116
    if not is_directory:
        raise LocalFileError(messages.TREE_NOT_DIRECTORY)
    return path


def _walk(root: str) -> Iterator[tuple[str, os.stat_result | LocalFileError]]:
    """Go's filepath.Walk: the root as it is, even a link, then each directory's entries by the bytes of their names."""
    waiting = [root]
    while waiting:
        path = waiting.pop()
        try:
            with go_errors("lstat", path):
                status = os.lstat(path)
            yield path, status
            if stat.S_ISDIR(status.st_mode):
                with go_errors("open", path):
                    names = sorted(os.listdir(path), key=os.fsencode, reverse=True)  # noqa: PTH208
                waiting += [join(path, name) for name in names]
        except LocalFileError as error:
            yield path, error


class _Tree:
    """One entry of `trees` while its files are added."""

    def __init__(self, tree: Tree, source: Path, nodes: Nodes, translation: Translation) -> None:
        self.tree = tree
        self.source = source
        self.nodes = nodes
        self.files = translation.files
        self.structs: dict[str, Struct] = translation.schema.structs
        self.owner: Tree = {key: tree[key] for key in ("group", "user") if tree.get(key)}

    def add(self, path: str, destination: str, status: os.stat_result | LocalFileError) -> None:
        """Add one node of the walk. Raises LocalFileError, NodeExists."""
        if isinstance(status, LocalFileError):
            raise status
        destination = _as_bytes_string(destination)
        if stat.S_ISDIR(status.st_mode):
            self.add_directory(destination)
        elif stat.S_ISREG(status.st_mode):
            self.add_file(path, destination, status)
        elif stat.S_ISLNK(status.st_mode):
            self.files.refuse_outside(path)
            entry = self.nodes.claim("links", destination, "target", self.source, self.owner)
            with go_errors("readlink", path):
                target = os.readlink(path)  # noqa: PTH115
            self.put(entry, "Link", target=_as_bytes_string(target))
        else:
            raise LocalFileError(messages.TREE_FILE_TYPE)

    def add_directory(self, destination: str) -> None:
        # Butane only speaks of directories where it has something to say of them.
        if not self.owner and "dir_mode" not in self.tree:
            return
        entry = {**self.owner, "path": destination, "mode": self.tree.get("dir_mode", DIRECTORY)}
        self.nodes.append("directories", _ordered(entry, self.structs["Directory"]), self.source)

    def add_file(self, path: str, destination: str, status: os.stat_result) -> None:
        entry = self.nodes.claim("files", destination, "contents", self.source, self.owner)
        own = entry.get("contents", {})
        contents = {**own, **embedded(self.files.read_path(path), own.get("compression", ""))}
        mode = self.tree.get("file_mode", EXECUTABLE if status.st_mode & 0o111 else PLAIN)
        self.put(entry, "File", contents=_ordered(contents, self.structs["Resource"]), mode=entry.get("mode", mode))

    def put(self, entry: Tree, struct: str, **values: Any) -> None:
        entry.update(values)
        ordered = _ordered(entry, self.structs[struct])
        entry.clear()
        entry.update(ordered)


def _ordered(tree: Tree, struct: Struct) -> Tree:
    return {key: tree[key] for key in struct.ignition if key in tree}


def _as_bytes_string(name: str) -> str:
    """A file name in the form all strings of a config have: UTF-8, other bytes as surrogates."""
    return os.fsencode(name).decode(errors=SURROGATES)
