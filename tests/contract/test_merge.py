"""Merging against the real Ignition: what it makes of two configs is what we make of them."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from flatcar_gpu.cli import run
from flatcar_gpu.transpile import encode, merge, transpile
from tests.contract.real_ignition import apply_ignition, validate_ignition
from tests.tools import DRACUT_IGNITION, require_tool

ROOT = Path(__file__).parents[2]
SECTIONS = ("passwd", "storage", "systemd", "kernelArguments")


def _set(tree: Any) -> Any:
    """`tree` without empty members: Ignition keeps its merged config with all of them."""
    if isinstance(tree, dict):
        return {key: value for key, member in tree.items() if (value := _set(member)) not in (None, {}, [])}
    return [_set(item) for item in tree] if isinstance(tree, list) else tree


def _merged_by_ignition(parent: bytes, child: bytes, folder: Path) -> dict[str, Any]:
    """The config that the real Ignition keeps after fetching one that merges the two."""
    sources = [{"source": f"data:,{quote(config)}"} for config in (parent, child)]
    outer = {"ignition": {"version": "3.3.0", "config": {"merge": sources}}}
    (folder / "outer.ign").write_text(json.dumps(outer))
    cache, root = folder / "cache.json", folder / "root"
    cache.unlink(missing_ok=True)
    root.mkdir(exist_ok=True)
    command = [require_tool("ignition", DRACUT_IGNITION), "-platform", "file", "-stage", "fetch", "-root", str(root)]
    command += ["-log-to-stdout", "-config-cache", str(cache), "-state-file", str(folder / "state.json")]
    command += ["-neednet", str(folder / "neednet")]
    environment = {**os.environ, "IGNITION_CONFIG_FILE": str(folder / "outer.ign")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    merged: dict[str, Any] = json.loads(cache.read_text())
    return {section: _set(merged.get(section, {})) for section in SECTIONS}


PARENT = """
variant: flatcar
version: 1.0.0
kernel_arguments:
  should_exist: [quiet, a=1]
passwd:
  groups: [{name: ops, gid: 1000}]
  users:
    - {name: core, groups: [wheel, docker], ssh_authorized_keys: [one, two], shell: /bin/bash}
    - {name: other}
storage:
  directories: [{path: /srv/d, mode: 0700}, {path: /srv/to-link}]
  disks:
    - device: /dev/sdb
      partitions: [{number: 1, label: one, size_mib: 10}, {label: two}]
  files:
    - path: /etc/a
      mode: 0600
      user: {name: core}
      contents: {inline: parent}
      append: [{inline: more}]
    - {path: /etc/becomes-a-link, contents: {inline: x}}
    - path: /etc/remote
      contents:
        source: https://example.com/a
        verification: {hash: sha256-PARENT}
        http_headers: [{name: A, value: parent}, {name: B, value: parent}]
  filesystems:
    - {device: /dev/sdb1, format: ext4, path: /srv/data, mount_options: [noatime], options: [-m, "0"]}
  links: [{path: /etc/l, target: /parent}]
  luks: [{name: vault, device: /dev/sdc, options: [--parent]}]
  raid: [{name: md, level: raid1, devices: [/dev/sdd, /dev/sde], options: [--parent]}]
systemd:
  units:
    - name: a.service
      enabled: true
      contents: "[Service]\\nExecStart=/bin/parent\\n[Install]\\nWantedBy=multi-user.target\\n"
      dropins: [{name: 10.conf, contents: "[Service]\\nNice=1\\n"}]
    - {name: b.service, mask: true}
""".replace("PARENT", "a" * 64)

CHILD = """
variant: flatcar
version: 1.0.0
kernel_arguments:
  should_exist: [b=2]
  should_not_exist: [quiet]
passwd:
  users:
    - {name: new}
    - {name: core, groups: [docker, video], ssh_authorized_keys: [two, three], no_create_home: true}
storage:
  directories: [{path: /srv/d, user: {id: 5}}, {path: /srv/new}]
  disks:
    - device: /dev/sdb
      wipe_table: true
      partitions: [{label: two, size_mib: 5}, {number: 1, resize: true}, {label: three}]
  files:
    - {path: /etc/new, contents: {inline: child}}
    - {path: /etc/a, contents: {inline: child}, append: [{inline: last}]}
    - path: /etc/remote
      contents:
        source: https://example.com/b
        http_headers: [{name: B, value: child}, {name: C, value: child}]
  filesystems: [{device: /dev/sdb1, mount_options: [ro], options: [-L, x], label: child, format: xfs}]
  links: [{path: /etc/becomes-a-link, target: /child}, {path: /srv/to-link, target: /child}, {path: /etc/l, hard: true}]
  luks: [{name: vault, options: [--child], wipe_volume: true}]
  raid: [{name: md, options: [--child], devices: [/dev/sde, /dev/sdf]}]
systemd:
  units:
    - {name: c.service, enabled: true}
    - {name: a.service, enabled: false, dropins: [{name: 20.conf}, {name: 10.conf, contents: "[Service]\\nNice=2\\n"}]}
    - {name: b.service, mask: false}
"""


def _config(text: str) -> Any:
    """The Ignition tree of a Butane text, whether or not a part of it could stand alone."""
    result = transpile(text.encode())
    if result.config is not None:
        return result.config
    pytest.fail(f"{result.failure}\n{result.report.as_text()}")


def test_all_kinds_of_members_merge_as_ignition_merges_them(tmp_path: Path) -> None:
    child_text = CHILD.replace(", hard: true}", ", target: /parent, hard: true}")
    child_text = child_text.replace("{name: vault, ", "{name: vault, device: /dev/sdc, ")
    child_text = child_text.replace("{name: md, ", "{name: md, level: raid1, ")
    parent, child = _config(PARENT), _config(child_text)
    ours = merge(parent, child)
    theirs = _merged_by_ignition(encode(parent), encode(child), tmp_path)
    assert {section: _set(ours.get(section, {})) for section in SECTIONS} == theirs


def test_a_user_s_config_over_a_node_is_what_ignition_makes_of_the_two(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT / "examples" / "merge")
    assert run(["ignition", "--merge", "users.bu", "--files-dir", ".", "-o", str(tmp_path / "joined.ign")]) == 0
    assert run(["ignition", "-o", str(tmp_path / "node.ign")]) == 0
    assert run(["transpile", "users.bu", "-d", ".", "-o", str(tmp_path / "users.ign")]) == 0
    assert capfd.readouterr().err == ""
    joined = json.loads((tmp_path / "joined.ign").read_text())
    node, users = ((tmp_path / name).read_bytes() for name in ("node.ign", "users.ign"))
    theirs = _merged_by_ignition(node, users, tmp_path)
    assert {section: _set(joined.get(section, {})) for section in SECTIONS} == theirs


def test_the_real_ignition_writes_both_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.chdir(ROOT / "examples" / "merge")
    # Users are made by useradd, which an empty folder does not have.
    text = Path("users.bu").read_text()
    without_users = tmp_path / "files.bu"
    without_users.write_text(text[: text.index("passwd:")] + text[text.index("storage:") :])
    assert run(["ignition", "--merge", str(without_users), "--files-dir", "."]) == 0
    config = capfdbinary.readouterr().out
    assert validate_ignition(config) == ""
    root = tmp_path / "root"
    (root / "etc").mkdir(parents=True)
    apply_ignition(config, root, tmp_path / "scratch")
    assert (root / "etc/motd").read_text() == "A GPU node."
    assert (root / "etc/app/app.toml").read_text() == 'level = "info"\n'
    assert "LimitNOFILE" in (root / "etc/systemd/system/containerd.service.d/20-limits.conf").read_text()
    assert (root / "etc/systemd/system/containerd.service.d/10-gpu-operator.conf").exists()
    assert (root / "etc/systemd/system/usr-local.mount").exists()
    assert "loop" in (root / "etc/modules-load.d/nvidia-driver.conf").read_text()
