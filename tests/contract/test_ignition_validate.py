"""Ignition's own validator takes what the transpiler makes."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from flatcar_gpu.transpile import transpile, validate_ignition
from tests.conformance.corpus import cases, lay_out
from tests.tools import require_tool

if TYPE_CHECKING:
    from pathlib import Path


def test_every_config_of_spec_3_3_is_valid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Debian's Ignition 2.14 knows nothing newer than 3.3.0.
    validator = require_tool("ignition-validate")
    lay_out(tmp_path)
    monkeypatch.chdir(tmp_path)
    checked = 0
    for case in cases():
        result = transpile(case.source, files_dir=case.files_dir)
        if result.ignition is None or result.config["ignition"]["version"] != "3.3.0":
            continue
        done = subprocess.run([validator, "-"], input=result.ignition, capture_output=True)
        assert done.returncode == 0, (case.name, done.stdout, done.stderr)
        checked += 1
    assert checked > 300


@pytest.mark.parametrize(
    "rest",
    [
        '"storage":{"files":[{"path":"rel"}]}',
        '"storage":{"disks":[{"device":"/dev/a","partitions":[{"number":1},{"number":1}]}]}',
        '"storage":{"links":[{"path":"/a"}]}',
        '"systemd":{"units":[{"name":"a"}]}',
        '"passwd":{"users":[{"name":"a"},{"name":"a"}]}',
        '"storage":{"files":[]',
        '"storage":{"files":[{"path":"/a","mode":"0644"}]}',
    ],
)
def test_what_the_validator_refuses_is_refused(rest: str) -> None:
    validator = require_tool("ignition-validate")
    text = ('{"ignition":{"version":"3.3.0"},' + rest + "}").encode()
    assert subprocess.run([validator, "-"], input=text, capture_output=True).returncode != 0
    assert validate_ignition(text).report.has_errors
