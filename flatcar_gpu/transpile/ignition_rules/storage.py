"""Rules of files, directories and links."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from flatcar_gpu.transpile import messages
from flatcar_gpu.transpile.go_text import clean, join
from flatcar_gpu.transpile.ignition_rules.rule import check_path

if TYPE_CHECKING:
    from flatcar_gpu.transpile.ignition_rules.rule import Check, Rule, Tree
    from flatcar_gpu.transpile.paths import Path

_SPECIAL_BITS_SINCE = 6


def _storage(tree: Tree, path: Path, check: Check) -> None:
    links = Counter(link["path"] for link in tree.get("links", ()))
    if links:
        _nothing_under_links(tree, "directories", messages.DIRECTORY_UNDER_LINK, links, path, check)
        _nothing_under_links(tree, "files", messages.FILE_UNDER_LINK, links, path, check)
        directories = Counter(directory["path"] for directory in tree.get("directories", ()))
        for index, link in enumerate(tree["links"]):
            here = (*path, "links", index)
            for _ in range(_links_above(link["path"], links)):
                check.error(here, messages.LINK_UNDER_LINK)
            _link_target(link, here, directories, check)
    _disks_of_filesystems(tree, path, check)


def _nothing_under_links(tree: Tree, kind: str, message: str, links: Counter[str], path: Path, check: Check) -> None:
    for index, node in enumerate(tree.get(kind, ())):
        for _ in range(_links_above(node["path"], links)):
            check.error((*path, kind, index), message)


def _links_above(path: str, links: Counter[str]) -> int:
    """How many links have a path that, with a slash, begins `path`."""
    found = 0
    end = path.find("/")
    while end >= 0:
        found += links.get(path[:end], 0)
        end = path.find("/", end + 1)
    return found


def _link_target(link: Tree, here: Path, directories: Counter[str], check: Check) -> None:
    target = link.get("target")
    if not target:
        check.error((*here, "target"), messages.NO_LINK_TARGET)
        return
    if not link.get("hard"):
        return
    # Ignition takes a relative target from the link itself, not from its folder.
    place = clean(target) if target.startswith("/") else join(link["path"], target)
    for _ in range(directories[place]):
        check.error(here, messages.HARD_LINK_TO_DIRECTORY)
    for owner in ("user", "group"):
        for name in ("id", "name"):
            if name in link.get(owner, {}):
                check.warning((*here, owner, name), messages.HARD_LINK_OWNER)


def _disks_of_filesystems(tree: Tree, path: Path, check: Check) -> None:
    disks = {disk["device"]: disk for disk in tree.get("disks", ())}
    if not disks:
        return
    for index, filesystem in enumerate(tree.get("filesystems", ())):
        disk = disks.get(filesystem["device"])
        if disk is None:
            continue
        if disk.get("partitions"):
            check.warning((*path, "filesystems", index, "device"), messages.OVERWRITES_PARTITIONS)
        elif disk.get("wipeTable") and not filesystem.get("wipeFilesystem"):
            check.warning((*path, "filesystems", index, "device"), messages.WIPED_WITH_DISK)


def _node(tree: Tree, path: Path, check: Check) -> None:
    check_path(tree["path"], (*path, "path"), check)
    mode = tree.get("mode")
    if mode is None:
        return
    if not 0 <= mode <= 0o7777:
        check.error((*path, "mode"), messages.BAD_MODE)
    if check.spec.minor < _SPECIAL_BITS_SINCE and mode & 0o7000:
        check.warning((*path, "mode"), messages.SPECIAL_MODE)


def _file(tree: Tree, path: Path, check: Check) -> None:
    _node(tree, path, check)
    if tree.get("overwrite") and not tree.get("contents", {}).get("source"):
        check.error((*path, "overwrite"), messages.OVERWRITE_WITHOUT_SOURCE)


def _owner(tree: Tree, path: Path, check: Check) -> None:
    if "id" in tree and tree.get("name"):
        check.error(path, messages.ID_AND_NAME)


RULES: dict[str, Rule] = {
    "Storage": _storage,
    "Directory": _node,
    "File": _file,
    "Link": _node,
    "NodeUser": _owner,
    "NodeGroup": _owner,
}
