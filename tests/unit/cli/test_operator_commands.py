from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import yaml

from flatcar_gpu.cli import run
from flatcar_gpu.settings import settings
from flatcar_gpu.spec import Scope

if TYPE_CHECKING:
    from pathlib import Path

OPERATORS = [setting.flag.split("/")[0] for setting in settings().values() if setting.scope is Scope.OPERATOR]
IMAGE = ["--repository", "registry.example.com/nvidia", "--driver-version", "570.195.03"]


@pytest.mark.parametrize("command", ["ignition", "butane"])
def test_commands_of_the_node_show_no_operator_settings(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([command, "--help"]) == 0
    out = capsys.readouterr().out
    assert [flag for flag in OPERATORS if f"{flag} " in out] == []


@pytest.mark.parametrize("command", ["values", "nvidia-drivers"])
def test_commands_of_the_operator_show_all_settings(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([command, "--help"]) == 0
    out = capsys.readouterr().out
    shown = [setting.flag for setting in settings().values() if setting.scope is not Scope.MONITORING]
    assert [flag for flag in shown if flag.split("/")[0] not in out] == []


def test_one_spec_file_serves_the_node_and_the_operator(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(
        "driver: {repository: registry.example.com/nvidia, version: '570.195.03'}\n"
        "toolkit: {installDir: /opt/nvidia}\noperator: {chartVersion: 25.10.1, tolerations: [a]}\n"
    )
    assert run(["butane", "-f", str(path)]) == 0
    assert "usr-local.mount" not in capsys.readouterr().out
    assert run(["values", "-f", str(path)]) == 0
    assert yaml.safe_load(capsys.readouterr().out)["toolkit"]["installDir"] == "/opt/nvidia"


def test_a_node_needs_no_image_but_its_values_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "values.yaml"
    assert run(["ignition", "--check"]) == 0
    assert run(["values", "-o", str(path)]) == 1
    assert "error[FG303]: --repository: " in capsys.readouterr().err
    assert not path.exists()


def test_resources_need_an_image_like_values(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["nvidia-drivers", "--driver-version", "570.195.03"]) == 1
    assert "error[FG303]: --repository: " in capsys.readouterr().err


def test_checking_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "values.yaml"
    for command in ("values", "nvidia-drivers"):
        assert run([command, *IMAGE, "--check", "-o", str(path)]) == 0
    assert not path.exists()
    assert capsys.readouterr().out == ""


def test_strict_lets_a_warning_of_the_operator_s_rules_fail(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["values", *IMAGE, "--rdma", "-q"]) == 0
    assert capsys.readouterr().err == ""
    assert run(["values", *IMAGE, "--rdma", "--strict"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "warning[FG311]: --rdma: " in err


def test_a_finding_in_values_points_into_the_spec_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text("driver:\n  repository: nvcr.io/nvidia\n  version: '570.195.03'\noperator:\n  nri: true\n")
    assert run(["values", "-f", str(path), "--chart-version", "v25.10.1"]) == 1
    err = capsys.readouterr().err
    assert f"{path}:2:15: error[FG303]: driver.repository: nvcr.io/nvidia has no driver image for Flatcar\n" in err
    assert f"{path}:5:8: error[FG301]: operator.nri: " in err


def test_settings_can_be_given_as_variables(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FLATCAR_GPU_REPOSITORY", "registry.example.com/team")
    monkeypatch.setenv("FLATCAR_GPU_DRIVER_VERSION", "570.195.03")
    assert run(["values"]) == 0
    assert yaml.safe_load(capsys.readouterr().out)["driver"]["repository"] == "registry.example.com/team"


def test_what_values_writes_passes_check_values(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "values.yaml"
    for more in ([], ["--nri"], ["--nvidia-driver-crd"], ["--chart-version", "v25.3.4"], ["--tolerations", "a,b=c"]):
        assert run(["values", *IMAGE, "--toolkit-install-dir", "/opt/nvidia", *more, "-o", str(path)]) == 0
        chart = more if more[:1] == ["--chart-version"] else []
        assert run(["check-values", str(path), "--strict", *chart]) == 0
    assert capsys.readouterr().err == ""


def test_check_values_finds_a_file_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check-values", "/no/such/values.yaml"]) == 1
    assert "cannot read /no/such/values.yaml" in capsys.readouterr().err
