"""Podman's units (`systemd.quadlets`), which become plain files and links."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flatcar_gpu.transpile.go_text import SURROGATES, join
from flatcar_gpu.transpile.local_files import LocalFileError
from flatcar_gpu.transpile.nodes import NodeExists, Nodes
from flatcar_gpu.transpile.resources import embedded

if TYPE_CHECKING:
    from flatcar_gpu.transpile.paths import Path
    from flatcar_gpu.transpile.translation import Translation, Tree

EXTENSIONS = (".container", ".volume", ".network", ".kube", ".image", ".build", ".pod", ".artifact")
SYSTEM_FOLDER = "/etc/containers/systemd"
USER_FOLDER = "/etc/containers/systemd/users"
MODE = 0o644


def add_quadlets(quadlets: list[Tree], translation: Translation) -> None:
    """Append the files and links of `quadlets` to the config."""
    nodes = Nodes(translation)
    for index, quadlet in enumerate(quadlets):
        path: Path = ("systemd", "quadlets", index)
        destination = join(SYSTEM_FOLDER if quadlet.get("rootful") else USER_FOLDER, quadlet.get("name", ""))
        _add_quadlet(quadlet, path, destination, nodes, translation)
        for number, dropin in enumerate(quadlet.get("dropins", ())):
            place = (*path, "dropins", number)
            _add_file(dropin, place, join(destination + ".d", dropin.get("name", "")), nodes, translation)


def template(name: str) -> str:
    """Of which template the quadlet `name` is an instance; empty if it is none."""
    base, at, _ = name.partition("@")
    dot = name.rfind(".")
    return f"{base}@{name[dot:]}" if at and dot >= 0 and len(base) + 1 != dot else ""


def _add_quadlet(quadlet: Tree, path: Path, destination: str, nodes: Nodes, translation: Translation) -> None:
    name = template(quadlet.get("name", ""))
    if not name:
        _add_file(quadlet, path, destination, nodes, translation)
        return
    try:
        nodes.append("links", {"path": destination, "target": name}, path)
    except NodeExists as error:
        translation.findings.error(path, str(error))


def _add_file(entry: Tree, path: Path, destination: str, nodes: Nodes, translation: Translation) -> None:
    try:
        if entry.get("contents_local"):
            contents = translation.files.read(entry["contents_local"])
        else:
            contents = entry.get("contents", "").encode(errors=SURROGATES)
    except LocalFileError as error:
        translation.findings.error((*path, "contents_local"), str(error))
        return
    try:
        file = {"path": destination, "contents": embedded(contents), "mode": MODE}
        nodes.append("files", file, path)
    except NodeExists as error:
        translation.findings.error(path, str(error))
