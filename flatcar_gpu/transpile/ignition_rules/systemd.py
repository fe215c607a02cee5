"""Rules of systemd units and their drop-ins."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from flatcar_gpu.transpile import messages
from flatcar_gpu.transpile.go_text import extension, quote
from flatcar_gpu.transpile.unit_file import UnitError, sections_with_options

if TYPE_CHECKING:
    from flatcar_gpu.transpile.ignition_rules.rule import Check, Rule, Tree
    from flatcar_gpu.transpile.paths import Path

_EXTENSIONS = frozenset(
    (
        ".service",
        ".socket",
        ".device",
        ".mount",
        ".automount",
        ".swap",
        ".target",
        ".path",
        ".timer",
        ".snapshot",
        ".slice",
        ".scope",
    )
)
_INSTANCE = re.compile(r"([^\n]+?)@[^\n]+?\.service")
_INSTALL = "Install"


def _systemd(tree: Tree, path: Path, check: Check) -> None:
    """An instance cannot be enabled if its template, where that is in the config, has no [Install]."""
    units = {unit["name"]: unit for unit in tree.get("units", ())}
    for index, unit in enumerate(tree.get("units", ())):
        match = _INSTANCE.fullmatch(unit["name"])
        if match is None or not unit.get("enabled"):
            continue
        name = match[1] + "@.service"
        contents = units.get(name, {}).get("contents")
        if not contents:
            continue
        try:
            installed = _INSTALL in sections_with_options(contents)
        except UnitError:
            continue  # it is said of the template itself
        if not installed:
            message = messages.no_template_install(quote(name), quote(unit["name"]))
            check.warning((*path, "units", index, "contents"), message)


def _unit(tree: Tree, path: Path, check: Check) -> None:
    if extension(tree["name"]) not in _EXTENSIONS:
        check.error((*path, "name"), messages.BAD_UNIT_EXTENSION)
    sections = _sections(tree, path, check)
    if tree.get("enabled") and tree.get("contents") and sections is not None and _INSTALL not in sections:
        check.warning((*path, "contents"), messages.no_install(quote(tree["name"])))


def _dropin(tree: Tree, path: Path, check: Check) -> None:
    if extension(tree["name"]) != ".conf":
        check.error((*path, "name"), messages.BAD_DROPIN_EXTENSION)
    _sections(tree, path, check)


def _sections(tree: Tree, path: Path, check: Check) -> frozenset[str] | None:
    """The sections of the contents that have options; None, with a finding, where they are no unit file."""
    try:
        return sections_with_options(tree.get("contents", ""))
    except UnitError as error:
        check.error((*path, "contents"), messages.BAD_UNIT + str(error))
        return None


RULES: dict[str, Rule] = {"Systemd": _systemd, "Unit": _unit, "Dropin": _dropin}
