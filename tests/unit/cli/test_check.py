from __future__ import annotations

import json
from typing import TYPE_CHECKING

from flatcar_gpu.cli import run

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_findings_of_several_specs_are_one_json_document(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = [str(tmp_path / name) for name in ("first.yaml", "second.yaml", "third.yaml", "missing.yaml")]
    (tmp_path / "first.yaml").write_text("drivr: {}\n")
    (tmp_path / "second.yaml").write_text("driver: {strategy: container}\n")
    (tmp_path / "third.yaml").write_text("toolkit: {install_dir: /usr/nvidia}\n")
    assert run(["check", "--error-format", "json", "-f", *names]) == 1
    report = json.loads(capsys.readouterr().err)
    assert report["error_count"] == 3
    assert [found.get("file") for found in report["diagnostics"]] == [names[0], names[2], None]
    assert names[3] in report["diagnostics"][2]["summary"]


def test_flags_alone_are_checked_without_any_spec() -> None:
    assert run(["check", "--toolkit-install-dir", "/opt/nvidia"]) == 0
    assert run(["check", "--toolkit-install-dir", "/usr/nvidia"]) == 1
