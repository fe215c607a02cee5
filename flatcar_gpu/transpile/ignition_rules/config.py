"""Rules of the config as a whole and of its `ignition` section."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flatcar_gpu.transpile import messages
from flatcar_gpu.transpile.header import canonical_version
from flatcar_gpu.transpile.ignition_rules.resources import url_problem
from flatcar_gpu.transpile.urls import BadUrl, parse

if TYPE_CHECKING:
    from flatcar_gpu.transpile.ignition_rules.rule import Check, Rule, Tree
    from flatcar_gpu.transpile.paths import Path

_UNITS = "/etc/systemd/system/"


def _config(tree: Tree, path: Path, check: Check) -> None:
    """Files must not stand where units and drop-ins are written."""
    units = set()
    for unit in tree.get("systemd", {}).get("units", ()):
        if unit.get("contents"):
            units.add(_UNITS + unit["name"])
        units |= {
            f"{_UNITS}{unit['name']}.d/{dropin['name']}" for dropin in unit.get("dropins", ()) if dropin.get("contents")
        }
    if not units:
        return
    storage = tree.get("storage", {})
    for kind in ("files", "directories", "links"):
        for index, node in enumerate(storage.get(kind, ())):
            if node["path"] in units:
                check.error((*path, "storage", kind, index, "path"), messages.CONFLICTS_WITH_UNIT)


def _ignition(tree: Tree, path: Path, check: Check) -> None:
    version = canonical_version(tree.get("version", ""))
    if version != check.spec.name:
        message = messages.OTHER_IGNITION_VERSION if version else messages.BAD_IGNITION_VERSION
        check.error((*path, "version"), message)


def _sources_required(name: str) -> Rule:
    def rule(tree: Tree, path: Path, check: Check) -> None:
        for index, resource in enumerate(tree.get(name, ())):
            source = resource.get("source")
            problem = url_problem(source, check.spec) if source else messages.SOURCE_REQUIRED
            if problem:
                check.error((*path, name, index), problem)

    return rule


def _proxy(tree: Tree, path: Path, check: Check) -> None:
    for name in ("httpProxy", "httpsProxy"):
        if name not in tree:
            continue
        here = (*path, name)
        try:
            scheme = parse(tree[name]).scheme
        except BadUrl as error:
            check.error(here, str(error))
            continue
        if scheme not in ("http", "https"):
            check.error(here, messages.BAD_PROXY)
        elif scheme == "http" and name == "httpsProxy":
            check.warning(here, messages.INSECURE_PROXY)


RULES: dict[str, Rule] = {
    "Config": _config,
    "Ignition": _ignition,
    "IgnitionConfig": _sources_required("merge"),
    "TLS": _sources_required("certificateAuthorities"),
    "Proxy": _proxy,
}
