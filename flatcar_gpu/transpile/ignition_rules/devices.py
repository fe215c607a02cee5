"""Rules of disks, partitions, RAID arrays, filesystems and encrypted devices."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from flatcar_gpu.transpile import messages
from flatcar_gpu.transpile.go_text import size
from flatcar_gpu.transpile.ignition_rules.resources import url_problem
from flatcar_gpu.transpile.ignition_rules.rule import check_path
from flatcar_gpu.transpile.urls import BadUrl, parse

if TYPE_CHECKING:
    from flatcar_gpu.transpile.ignition_rules.rule import Check, Rule, Tree
    from flatcar_gpu.transpile.paths import Path

_GUID = re.compile(r"|[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}", re.ASCII)
_PARTITION_LABEL_MAX = 36
_LUKS_LABEL_MAX = 47
_RAID_WITHOUT_SPARES = ("linear", "raid0", "0", "stripe")
_RAID_LEVELS = (*_RAID_WITHOUT_SPARES, "raid1", "1", "mirror", "raid4", "4", "raid5", "5", "raid6", "6", "raid10", "10")
# The longest label of each format, in bytes.
_FORMATS = {"ext4": 16, "btrfs": 256, "xfs": 12, "swap": 15, "vfat": 11, "none": None}
_ANY_CLEVIS_PIN_SINCE = 6


def _disk(tree: Tree, path: Path, check: Check) -> None:
    if not tree["device"]:
        check.error((*path, "device"), messages.NO_DEVICE)
        return
    check_path(tree["device"], (*path, "device"), check)
    here = (*path, "partitions")
    partitions = tree.get("partitions", [])
    for index, message in (
        (_second_of([partition.get("number") or None for partition in partitions]), messages.NUMBERS_COLLIDE),
        (_overlapping(partitions), messages.PARTITIONS_OVERLAP),
    ):
        if index is not None:
            check.error((*here, index), message)
    some_unnumbered = any(not partition.get("number") for partition in partitions)
    some_must_not_exist = any(partition.get("shouldExist") is False for partition in partitions)
    if some_unnumbered and some_must_not_exist:
        check.error(here, messages.ZERO_WITH_NOT_EXIST)
    same_label = _second_of([partition.get("label") for partition in partitions])
    if same_label is not None:
        check.error((*here, same_label), messages.LABELS_COLLIDE)


def _second_of(values: list[object]) -> int | None:
    """The index of the first value that came before; None values are not compared."""
    seen: set[object] = set()
    for index, value in enumerate(values):
        if value is not None and value in seen:
            return index
        seen.add(value)
    return None


def _overlapping(partitions: list[Tree]) -> int | None:
    """The index of the partition that Ignition names when partitions with a start and a size overlap."""
    extents = [
        (start, start + partition["sizeMiB"] - 1 if partition["sizeMiB"] else start, index)
        for index, partition in enumerate(partitions)
        if (start := partition.get("startMiB")) and "sizeMiB" in partition
    ]
    for first, last, index in extents:
        for other_first, other_last, other in extents:
            if other == index:
                continue
            inside = other_first <= first <= other_last or other_first <= last <= other_last
            if inside or (first < other_first and last > other_last):
                return other
    return None


def _partition(tree: Tree, path: Path, check: Check) -> None:
    label = tree.get("label")
    if tree.get("shouldExist") is False:
        set_anyway = any(name in tree for name in ("label", "startMiB", "sizeMiB"))
        if set_anyway or tree.get("typeGuid") or tree.get("guid"):
            check.error(path, messages.NOT_EXIST_WITH_OTHERS)
    if not tree.get("number") and label is None:
        check.error(path, messages.NUMBER_OR_LABEL)
    if label is not None and size(label) > _PARTITION_LABEL_MAX:
        check.error((*path, "label"), messages.LONG_PARTITION_LABEL)
    elif label is not None and ":" in label:
        check.error((*path, "label"), messages.COLON_IN_LABEL)
    for name in ("guid", "typeGuid"):
        if not _GUID.fullmatch(tree.get(name, "")):
            check.error((*path, name), messages.BAD_GUID)


def _raid(tree: Tree, path: Path, check: Check) -> None:
    level = tree.get("level")
    if not level:
        check.error((*path, "level"), messages.NO_RAID_LEVEL)
    elif level not in _RAID_LEVELS:
        check.error((*path, "level"), messages.BAD_RAID_LEVEL)
    elif level in _RAID_WITHOUT_SPARES and tree.get("spares"):
        check.error((*path, "level"), messages.RAID_SPARES)
    if not tree.get("devices"):
        check.error((*path, "devices"), messages.NO_RAID_DEVICES)
    for index, device in enumerate(tree.get("devices", ())):
        check_path(device, (*path, "devices", index), check)


def _filesystem(tree: Tree, path: Path, check: Check) -> None:
    if tree.get("path"):
        check_path(tree["path"], (*path, "path"), check)
    check_path(tree["device"], (*path, "device"), check)
    format_, label = tree.get("format", ""), tree.get("label", "")
    if not format_:
        if any(tree.get(name) for name in ("path", "label", "uuid", "wipeFilesystem", "mountOptions", "options")):
            check.error((*path, "format"), messages.NO_FORMAT)
    elif format_ not in _FORMATS:
        check.error((*path, "format"), messages.BAD_FORMAT)
    if label and not format_:
        check.error((*path, "label"), messages.LABEL_WITHOUT_FORMAT)
    elif label and (limit := _FORMATS.get(format_)) and size(label) > limit:
        check.error((*path, "label"), messages.long_label(format_, limit))


def _luks(tree: Tree, path: Path, check: Check) -> None:
    if "/" in tree["name"]:
        check.error((*path, "name"), messages.SLASH_IN_NAME)
    if size(tree.get("label", "")) > _LUKS_LABEL_MAX:
        check.error((*path, "label"), messages.LONG_LUKS_LABEL)
    if tree.get("device"):
        check_path(tree["device"], (*path, "device"), check)
    else:
        check.error((*path, "device"), messages.NO_DEVICE)
    key_file = tree.get("keyFile", {}).get("source")
    if tree.get("cex", {}).get("enabled"):
        if tree.get("clevis"):
            check.error((*path, "cex"), messages.CEX_WITH_CLEVIS)
        if key_file:
            check.error((*path, "cex"), messages.CEX_WITH_KEY_FILE)
    if key_file and url_problem(key_file, check.spec):
        # Ignition's own name for a place that no config has.
        check.error((*path, "keys"), messages.BAD_KEY_FILE)


def _clevis(tree: Tree, path: Path, check: Check) -> None:
    if tree.get("custom") and (tree.get("tang") or tree.get("tpm2") or tree.get("threshold")):
        check.error(path, messages.CUSTOM_CLEVIS_WITH_OTHERS)


def _clevis_custom(tree: Tree, path: Path, check: Check) -> None:
    if not tree:
        return
    pin = tree.get("pin")
    if not pin:
        check.error((*path, "pin"), messages.NO_CLEVIS_PIN)
    elif check.spec.minor < _ANY_CLEVIS_PIN_SINCE and pin not in ("tpm2", "tang", "sss"):
        check.error((*path, "pin"), messages.BAD_CLEVIS_PIN)
    if not tree.get("config"):
        check.error((*path, "config"), messages.NO_CLEVIS_CONFIG)


def _tang(tree: Tree, path: Path, check: Check) -> None:
    try:
        if parse(tree.get("url", "")).scheme not in ("http", "https"):
            check.error((*path, "url"), messages.BAD_URL_SCHEME)
    except BadUrl as error:
        check.error((*path, "url"), str(error))
    if not tree.get("thumbprint"):
        check.error((*path, "thumbprint"), messages.NO_THUMBPRINT)
    advertisement = tree.get("advertisement")
    if advertisement and not _is_json(advertisement):
        check.error((*path, "advertisement"), messages.BAD_ADVERTISEMENT)


def _is_json(text: str) -> bool:
    try:
        json.loads(text, parse_constant=lambda _: json.loads(""))
    except (ValueError, RecursionError):
        return False
    return True


RULES: dict[str, Rule] = {
    "Disk": _disk,
    "Partition": _partition,
    "Raid": _raid,
    "Filesystem": _filesystem,
    "Luks": _luks,
    "Clevis": _clevis,
    "ClevisCustom": _clevis_custom,
    "Tang": _tang,
}
