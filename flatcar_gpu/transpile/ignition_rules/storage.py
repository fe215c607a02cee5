"""Rules of files, directories and links."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from flatcar_gpu.transpile import messages
from flatcar_gpu.transpile.go_text import clean, join
from flatcar_gpu.transpile.ignition_rules.rule import check_path

if TYPE_CHECKING:
    from flatcar_gpu.transpile.ignition_rules.rule import Rule, Spec, Tree
    from flatcar_gpu.transpile.paths import Path
    from flatcar_gpu.transpile.translation import Findings

_SPECIAL_BITS_SINCE = 6


def _storage(tree: Tree, path: Path, spec: Spec, findings: Findings) -> None:
    links = Counter(link["path"] for link in tree.get("links", ()))
    if links:
        _nothing_under_links(tree, "directories", messages.DIRECTORY_UNDER_LINK, links, path, findings)
        _nothing_under_links(tree, "files", messages.FILE_UNDER_LINK, links, path, findings)
        directories = Counter(directory["path"] for directory in tree.get("directories", ()))
        for index, link in enumerate(tree["links"]):
            here = (*path, "links", index)
            for _ in range(_links_above(link["path"], links)):
                findings.error(here, messages.LINK_UNDER_LINK)
            _link_target(link, here, directories, findings)
    _disks_of_filesystems(tree, path, findings)


def _nothing_under_links(
    tree: Tree, kind: str, message: str, links: Counter[str], path: Path, findings: Findings
) -> None:
    for index, node in enumerate(tree.get(kind, ())):
        for _ in range(_links_above(node["path"], links)):
            findings.error((*path, kind, index), message)


def _links_above(path: str, links: Counter[str]) -> int:
    """How many links have a path that, with a slash, begins `path`."""
    found = 0
    end = path.find("/")
    while end >= 0:
        found += links.get(path[:end], 0)
        end = path.find("/", end + 1)
    return found


def _link_target(link: Tree, here: Path, directories: Counter[str], findings: Findings) -> None:
    target = link.get("target")
    if not target:
        findings.error((*here, "target"), messages.NO_LINK_TARGET)
        return
    if not link.get("hard"):
        return
    # Ignition takes a relative target from the link itself, not from its folder.
    place = clean(target) if target.startswith("/") else join(link["path"], target)
    for _ in range(directories[place]):
        findings.error(here, messages.HARD_LINK_TO_DIRECTORY)
    for owner in ("user", "group"):
        for name in ("id", "name"):
            if name in link.get(owner, {}):
                findings.warning((*here, owner, name), messages.HARD_LINK_OWNER)


def _disks_of_filesystems(tree: Tree, path: Path, findings: Findings) -> None:
    disks = {disk["device"]: disk for disk in tree.get("disks", ())}
    if not disks:
        return
    for index, filesystem in enumerate(tree.get("filesystems", ())):
        disk = disks.get(filesystem["device"])
        if disk is None:
            continue
        if disk.get("partitions"):
            findings.warning((*path, "filesystems", index, "device"), messages.OVERWRITES_PARTITIONS)
        elif disk.get("wipeTable") and not filesystem.get("wipeFilesystem"):
            findings.warning((*path, "filesystems", index, "device"), messages.WIPED_WITH_DISK)


def _node(tree: Tree, path: Path, spec: Spec, findings: Findings) -> None:
    check_path(tree["path"], (*path, "path"), findings)
    mode = tree.get("mode")
    if mode is None:
        return
    if not 0 <= mode <= 0o7777:
        findings.error((*path, "mode"), messages.BAD_MODE)
    if spec.minor < _SPECIAL_BITS_SINCE and mode & 0o7000:
        findings.warning((*path, "mode"), messages.SPECIAL_MODE)


def _file(tree: Tree, path: Path, spec: Spec, findings: Findings) -> None:
    _node(tree, path, spec, findings)
    if tree.get("overwrite") and not tree.get("contents", {}).get("source"):
        findings.error((*path, "overwrite"), messages.OVERWRITE_WITHOUT_SOURCE)


def _owner(tree: Tree, path: Path, spec: Spec, findings: Findings) -> None:
    if "id" in tree and tree.get("name"):
        findings.error(path, messages.ID_AND_NAME)


RULES: dict[str, Rule] = {
    "Storage": _storage,
    "Directory": _node,
    "File": _file,
    "Link": _node,
    "NodeUser": _owner,
    "NodeGroup": _owner,
}
