"""The files, directories and links of an Ignition config by path, for those who add to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flatcar_gpu.transpile import messages

if TYPE_CHECKING:
    from flatcar_gpu.transpile.paths import Path
    from flatcar_gpu.transpile.translation import Translation, Tree

KINDS = ("directories", "files", "links")


class NodeExists(Exception):
    """The place is taken; the text is Butane's."""

    def __init__(self) -> None:
        super().__init__(messages.NODE_EXISTS)


class Nodes:
    """Looks nodes up by their exact path; of several entries of one path the last one counts."""

    def __init__(self, translation: Translation) -> None:
        self.storage: Tree = translation.config.setdefault("storage", {})
        self.origins = translation.origins
        self.index: dict[str, tuple[str, int]] = {}
        for kind in KINDS:
            for index, node in enumerate(self.storage.get(kind, ())):
                self.index[node["path"]] = (kind, index)

    def claim(self, kind: str, path: str, member: str, source: Path, owner: Tree) -> Tree:
        """The entry of the `kind` at `path`, new or the user's, so that its `member` can be filled.

        What is in it is said to come from `source`: all of a new entry, only `member` of the user's.
        Raises NodeExists for another kind of node, and where the member has contents.
        """
        if path not in self.index:
            new = {**owner, "path": path}
            self.append(kind, new, source)
            return new
        found, index = self.index[path]
        entry: Tree = self.storage[found][index]
        contents = entry.get("contents", {}).get("source") if kind == "files" else entry.get(member)
        if found != kind or contents:
            raise NodeExists
        self.origins.whole["storage", kind, index, member] = source
        return entry

    def append(self, kind: str, entry: Tree, source: Path) -> None:
        """Add an entry that all comes from `source`. Raises NodeExists where its path is taken."""
        if entry["path"] in self.index:
            raise NodeExists
        entries = self.storage.setdefault(kind, [])
        self.index[entry["path"]] = (kind, len(entries))
        self.origins.whole["storage", kind, len(entries)] = source
        entries.append(entry)
