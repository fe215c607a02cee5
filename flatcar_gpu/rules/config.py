"""Rules about a whole config, above all about what a user's own config brings along.

They look at the finished Ignition tree, so a finding's `at` is a path in it: `$.storage.files.0.path`.
"""

from __future__ import annotations

import base64
import gzip
import posixpath
import zlib
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes, urlsplit

from flatcar_gpu.node.usr_local import MOUNT_UNIT
from flatcar_gpu.plan import is_below
from flatcar_gpu.report import Severity
from flatcar_gpu.rules.driver import OFFICIAL_DRIVER_SYSEXTS
from flatcar_gpu.rules.registry import Finding, config_rule
from flatcar_gpu.rules.toolkit import USR_IS_READ_ONLY
from flatcar_gpu.spec import Strategy, Toolkit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flatcar_gpu.plan import Plan

Tree = dict[str, Any]

NODE_KINDS = ("directories", "files", "links")


def _nodes(config: Tree) -> Iterator[tuple[str, str, Tree]]:
    """Kind, path in the tree and entry of every file, directory and link."""
    for kind in NODE_KINDS:
        for index, node in enumerate(config.get("storage", {}).get(kind, [])):
            yield kind, f"$.storage.{kind}.{index}", node


def _units(config: Tree) -> Iterator[tuple[str, Tree]]:
    for index, unit in enumerate(config.get("systemd", {}).get("units", [])):
        yield f"$.systemd.units.{index}", unit


def _mounts(config: Tree) -> Iterator[tuple[str, Tree, str]]:
    """Path in the tree, unit and mount point of every mount unit with contents."""
    for at, unit in _units(config):
        if unit["name"].endswith(".mount") and unit.get("contents"):
            for where in _values(unit["contents"], "Where"):
                yield at, unit, where


def _values(text: str, key: str) -> list[str]:
    """Every value that a unit's text gives `key`, in order."""
    pairs = (line.partition("=") for line in text.splitlines())
    return [value.strip() for name, _, value in pairs if name.strip() == key]


def _file_text(config: Tree, path: str) -> tuple[str, str] | None:
    """Path in the tree and text of the file at `path`; None where the config holds none that can be read."""
    for kind, at, node in _nodes(config):
        if kind != "files" or node["path"] != path:
            continue
        contents = node.get("contents") or {}
        head, comma, data = (contents.get("source") or "").partition(",")
        if not comma or not head.startswith("data:"):
            return None
        raw = base64.b64decode(data) if head.endswith(";base64") else unquote_to_bytes(data)
        if contents.get("compression"):
            try:
                raw = gzip.decompress(raw)
            except (EOFError, OSError, zlib.error):
                return None  # what is no gzip has no text; Ignition itself refuses it at first boot
        return at, raw.decode("utf-8", "replace")
    return None


@config_rule(
    "FG401",
    "a file below /usr",
    why="Ignition cannot write below /usr, which is read-only: the first boot fails, on old releases again and again.",
    source=f"{USR_IS_READ_ONLY}; flatcar/Flatcar#434, #454",
    remedy="put it below /etc or /opt; executables are found in /opt/bin",
)
def no_file_below_usr(plan: Plan, config: Tree) -> Iterator[Finding]:
    of_the_plan = (plan.overlay.upper, plan.overlay.work) if plan.overlay else ()  # FG121 speaks of them
    for _kind, at, node in _nodes(config):
        if is_below(node["path"], "/usr") and node["path"] not in of_the_plan:
            yield Finding(f"{at}.path", f"{node['path']} is below /usr, which is read-only on Flatcar")


@config_rule(
    "FG402",
    "a file in the place of a unit",
    why="Ignition writes the unit, or the link that masks it, to the same path and fails at first boot.",
    source="kubermatic/kubermatic#12690; flatcar/Flatcar#828; Ignition internal/exec/util on masked units",
    remedy="describe the unit once, in systemd.units",
)
def no_file_in_the_place_of_a_unit(_: Plan, config: Tree) -> Iterator[Finding]:
    written = {f"/etc/systemd/system/{unit['name']}": unit for _at, unit in _units(config)}
    for _kind, at, node in _nodes(config):
        unit = written.get(node["path"])
        if unit and (unit.get("mask") or unit.get("contents")):
            does = "masked" if unit.get("mask") else "written"
            yield Finding(f"{at}.path", f"{node['path']} is also the unit {unit['name']}, which is {does}")


@config_rule(
    "FG403",
    "a mount within a mount below /usr or /opt",
    why="With systemd 257 the merge of system extensions fails on nested mounts: containerd and docker vanish.",
    source="flatcar/Flatcar#2111 (Stable 4593.2.x); systemd/systemd PR 41875",
    remedy="mount the inner one elsewhere and link to it, or use a release with another systemd (258 is in Beta 4628)",
)
def no_nested_mounts(plan: Plan, config: Tree) -> Iterator[Finding]:
    if plan.known is not None and not plan.known.nested_mounts_break_merge.value:
        return
    mounts = [(at, where) for at, _unit, where in _mounts(config) if _is_merged(where)]
    for at, where in mounts:
        for _outer_at, outer in mounts:
            if where != outer and is_below(where, outer):
                # Without a release nobody knows which systemd will meet it.
                severity = Severity.ERROR if plan.known else Severity.WARNING
                yield Finding(f"{at}.contents", f"{where} is a mount within the mount {outer}", severity=severity)


def _is_merged(path: str) -> bool:
    return is_below(path, "/usr") or is_below(path, "/opt")


@config_rule(
    "FG404",
    "a mount below /usr that the merge of system extensions hides",
    why="A mount below /usr that is made before systemd-sysext.service is hidden by it with systemd 256 and older: the "
    "unit is active, and what was there before is seen. This is the unit pattern of 2021.",
    source="systemd/systemd#31922; flatcar-website PR 477; boots of test machines (`make vm-test`)",
    remedy="give it DefaultDependencies=no and After=systemd-sysext.service, and hold it up with a drop-in for "
    "systemd-sysext.service (butane/usr-local-overlay.bu shows how)",
)
def mounts_come_after_the_merge(plan: Plan, config: Tree) -> Iterator[Finding]:
    if plan.known is not None and not plan.known.early_mounts_are_hidden.value:
        return
    for at, unit, where in _mounts(config):
        after = " ".join(_values(unit["contents"], "After")).split()
        if is_below(where, "/usr") and "systemd-sysext.service" not in after:
            severity = Severity.ERROR if plan.known else Severity.WARNING
            says = f"{unit['name']} is not ordered after systemd-sysext.service, which hides it"
            yield Finding(f"{at}.contents", says, severity=severity)


@config_rule(
    "FG405",
    "nvidia.service beside a driver container",
    why="Flatcar's nvidia.service builds and loads a driver of its own on every node with a GPU; the driver container "
    "then finds its modules taken.",
    source="flatcar/scripts nvidia.service (every platform since 3637.0.0); flatcar/Flatcar#715",
    remedy="leave nvidia.service out of your config, or use --driver service",
)
def nvidia_service_stays_masked(plan: Plan, config: Tree) -> Iterator[Finding]:
    if plan.strategy is not Strategy.CONTAINER:
        return
    masked = [unit.get("mask") for _at, unit in _units(config) if unit["name"] == "nvidia.service"]
    if masked != [True]:
        at = next((at for at, unit in _units(config) if unit["name"] == "nvidia.service"), "$.systemd.units")
        yield Finding(at, "nvidia.service is not masked")


@config_rule(
    "FG406",
    "extensions that do not fit the driver strategy",
    why="A driver extension beside a driver container loads another driver, and an unknown name stops the boot in "
    "emergency.target. The file is read in the initrd, where a symbolic link leads nowhere.",
    source="bootengine initrd-setup-root-after-ignition; flatcar-website PR 571; flatcar/Flatcar#1962",
    remedy="let --driver and --driver-sysext write /etc/flatcar/enabled-sysext.conf, or name only extensions that fit",
)
def enabled_sysexts_fit(plan: Plan, config: Tree) -> Iterator[Finding]:
    path = "/etc/flatcar/enabled-sysext.conf"
    for kind, at, node in _nodes(config):
        if kind == "links" and node["path"] == path:
            yield Finding(f"{at}.path", f"{path} must be a regular file, not a link")
    found = _file_text(config, path)
    if found is None:
        return
    at, text = found
    names = [line.partition("#")[0].strip() for line in text.splitlines()]
    for name in names:
        if not name.startswith("nvidia-drivers") or name == plan.driver_sysext:
            continue
        if name not in OFFICIAL_DRIVER_SYSEXTS:
            yield Finding(f"{at}.contents", f"{name} is not a driver extension that Flatcar builds")
        elif plan.strategy is not Strategy.SYSEXT:
            yield Finding(f"{at}.contents", f"{name} is enabled although the driver strategy is {plan.strategy}")


@config_rule(
    "FG407",
    "a source that the node cannot reach at its first boot",
    why="Ignition runs in the initrd of the new node. What it cannot fetch stops the boot.",
    source="Ignition documentation, operator notes; Flatcar documentation",
    remedy="embed the contents (inline), or serve them under a name that the new node can resolve and reach",
)
def sources_are_reachable(_: Plan, config: Tree) -> Iterator[Finding]:
    for at, source in _sources(config, "$"):
        host = urlsplit(source).hostname or "" if source.startswith(("http:", "https:")) else ""
        if host == "localhost" or host.startswith("127.") or host in ("::1", "0.0.0.0"):  # noqa: S104
            yield Finding(at, f"{source} is on the node itself, where nothing serves it at first boot")
        elif host.endswith((".svc", ".cluster.local")):
            yield Finding(at, f"{source} is a name inside a cluster that the node has not joined yet")


def _sources(tree: Any, at: str) -> Iterator[tuple[str, str]]:
    if isinstance(tree, dict):
        for key, value in tree.items():
            if key == "source" and isinstance(value, str):
                yield f"{at}.source", value
            else:
                yield from _sources(value, f"{at}.{key}")
    elif isinstance(tree, list):
        for index, value in enumerate(tree):
            yield from _sources(value, f"{at}.{index}")


@config_rule(
    "FG408",
    "updates are held and let go at once",
    why="The config's own update.conf replaces the one that holds the node on its release.",
    source="Flatcar documentation, update strategies: SERVER=disabled",
    remedy="add SERVER=disabled to your update.conf, or leave --hold-updates out",
)
def held_updates_stay_held(plan: Plan, config: Tree) -> Iterator[Finding]:
    found = _file_text(config, "/etc/flatcar/update.conf")
    if plan.holds_updates and found and "SERVER=disabled" not in found[1].split():
        yield Finding(f"{found[0]}.contents", "/etc/flatcar/update.conf does not say SERVER=disabled")


@config_rule(
    "FG409",
    "containerd does not read the toolkit's configuration",
    why="The operator's toolkit writes its runtimes below /etc/containerd/conf.d; if containerd is started with "
    'another config, pods fail with `no runtime for "nvidia" is configured`.',
    source="flatcar/scripts containerd.service; nvidia-container-toolkit v1.20.0",
    remedy='start containerd with /etc/containerd/config.toml, and let that import "/etc/containerd/conf.d/*.toml"',
)
def containerd_reads_the_toolkit_s_config(plan: Plan, config: Tree) -> Iterator[Finding]:
    if plan.toolkit is not Toolkit.OPERATOR:
        return
    found = _file_text(config, "/etc/containerd/config.toml")
    if found and "/etc/containerd/conf.d/" not in found[1]:
        yield Finding(f"{found[0]}.contents", "/etc/containerd/config.toml does not import /etc/containerd/conf.d")
    for at, unit in _units(config):
        if unit["name"] != "containerd.service":
            continue
        # systemd reads drop-ins in order of their names; the last ExecStart= wins.
        dropins = sorted(unit.get("dropins", []), key=lambda dropin: str(dropin["name"]))
        starts = [
            start
            for text in (unit.get("contents"), *(dropin.get("contents") for dropin in dropins))
            for start in _values(text or "", "ExecStart")
            if start
        ]
        if starts and "/etc/containerd/config.toml" not in starts[-1]:
            yield Finding(at, f"containerd.service is started as `{starts[-1]}`")


@config_rule(
    "FG410",
    "a mount unit that systemd does not take",
    why="systemd loads a mount unit only under the name that its Where= escapes to.",
    source="systemd.mount(5); flatcar/Flatcar#1448",
    remedy="name it as `systemd-escape --path --suffix=mount WHERE` prints",
)
def mount_units_are_named_after_their_place(_: Plan, config: Tree) -> Iterator[Finding]:
    for at, unit, where in _mounts(config):
        expected = escaped_path(where) + ".mount"
        if unit["name"] != expected and "%" not in where:
            yield Finding(f"{at}.name", f"{unit['name']} mounts {where}, so its name must be {expected}")


def escaped_path(path: str) -> str:
    """A path as systemd escapes it for a unit's name. Source: systemd.unit(5), string escaping."""
    trimmed = posixpath.normpath("/" + path.strip("/")).strip("/")
    if not trimmed:
        return "-"
    out = []
    for index, byte in enumerate(trimmed.encode()):
        character = chr(byte)
        if character == "/":
            out.append("-")
        elif (character.isascii() and character.isalnum()) or character in ":_" or (character == "." and index):
            out.append(character)
        else:
            out.append(f"\\x{byte:02x}")
    return "".join(out)


@config_rule(
    "FG411",
    "the node's kernel modules are replaced",
    severity=Severity.WARNING,
    why="The config's own file takes the place of the one that loads the modules a driver needs.",
    source="README of gpu-driver-container's flatcar folder; NVIDIA/gpu-driver-container#7",
    remedy="give your file another name below /etc/modules-load.d, or use --modules",
)
def modules_stay_listed(plan: Plan, config: Tree) -> Iterator[Finding]:
    found = _file_text(config, "/etc/modules-load.d/nvidia-driver.conf")
    if found:
        missing = [module for module in plan.modules if module not in found[1].split()]
        if missing:
            yield Finding(f"{found[0]}.contents", f"nvidia-driver.conf no longer loads {', '.join(missing)}")


@config_rule(
    "FG412",
    "the nvidia-runtime extension beside the operator's toolkit",
    why="The extension starts containerd with a config of its own that imports nothing, so that what the operator's "
    "toolkit writes is never read.",
    source="flatcar/sysext-bakery nvidia-runtime, 10-nvidia.conf",
    remedy="use --toolkit sysext (and toolkit.enabled=false in the operator's values), or leave the extension out",
)
def no_runtime_sysext_beside_the_operator_s_toolkit(plan: Plan, config: Tree) -> Iterator[Finding]:
    if plan.toolkit is not Toolkit.OPERATOR:
        return
    for _kind, at, node in _nodes(config):
        name = posixpath.basename(node["path"])
        if posixpath.dirname(node["path"]) == "/etc/extensions" and name.startswith(
            ("nvidia-runtime", "nvidia_runtime")
        ):
            yield Finding(f"{at}.path", f"{node['path']} enables the nvidia-runtime extension")


@config_rule(
    "FG413",
    "the overlay on /usr/local is changed",
    why="The config's own usr-local.mount or drop-in takes the place of the one that survives merges of extensions.",
    source="boots of test machines (`make vm-test`)",
    remedy="leave usr-local.mount to the tool, or use --usr-local none",
)
def overlay_unit_is_ours(plan: Plan, config: Tree) -> Iterator[Finding]:
    if plan.overlay is None:
        return
    for at, unit in _units(config):
        if unit["name"] == MOUNT_UNIT and (unit.get("mask") or unit.get("enabled") is False):
            yield Finding(at, f"{MOUNT_UNIT} is masked or disabled")
