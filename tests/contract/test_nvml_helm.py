"""Real Helm 3 and Helm 4 on a small chart with the shape of Kepler's."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from flatcar_gpu.cli import run
from flatcar_gpu.kubernetes.nvml.pattern import copy_script
from tests.helm_binaries import run_helm
from tests.manifests import named, pod_spec

if TYPE_CHECKING:
    from collections.abc import Callable

CHART = Path(__file__).parent.parent / "charts" / "kepler"
GPU = ("--set", "config.experimental.gpu.enabled=true")


@pytest.fixture
def program(tmp_path: Path) -> dict[str, str]:
    """The variable that tells the plugin where flatcar-gpu is."""
    path = tmp_path / "flatcar-gpu"
    path.write_text(f'#!/bin/sh\nexec {sys.executable} -m flatcar_gpu "$@"\n')
    path.chmod(0o755)
    return {"FLATCAR_GPU": str(path), "PYTHONPATH": str(Path(__file__).parent.parent.parent)}


@pytest.fixture(params=[3, 4], ids=["helm3", "helm4"])
def helm(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., bytes]:
    def helm(*arguments: str) -> bytes:
        done = run_helm(request.param, tmp_path, *arguments)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout

    return helm


@pytest.mark.parametrize("gpu", [True, False])
def test_lint_with_gpu_on_and_off(helm: Callable[..., bytes], gpu: bool, tmp_path: Path) -> None:
    values = tmp_path / "gpu.yaml"
    arguments = ["--chart-has-nvml", "yes", "--gpu" if gpu else "--no-gpu", "-o", str(values)]
    assert run(["nvml", "kepler-values", *arguments]) == 0
    assert b"0 chart(s) failed" in helm("lint", str(CHART), "-f", str(values), "--set", "copiesNvml=true")
    spec = pod_spec(helm("template", "kepler", str(CHART), "-f", str(values), "--set", "copiesNvml=true"))
    assert ("initContainers" in spec) is gpu
    assert ("nvml-libs" in named(spec["volumes"])) is gpu


def test_values_merge_into_the_chart_s_own(helm: Callable[..., bytes], tmp_path: Path) -> None:
    values = tmp_path / "gpu.yaml"
    shown = tmp_path / "values.yaml"
    shown.write_bytes(helm("show", "values", str(CHART)))
    assert run(["nvml", "kepler-values", "--chart-values", str(shown), "--gpu-nodes-only", "-o", str(values)]) == 0
    spec = pod_spec(helm("template", "kepler", str(CHART), "-f", str(values)))
    probe = spec["containers"][0]["livenessProbe"]
    assert probe["httpGet"] == {"path": "/", "port": "http"}
    assert (probe["timeoutSeconds"], probe["initialDelaySeconds"]) == (5, 10)
    keys = [toleration["key"] for toleration in spec["tolerations"]]
    assert keys == ["node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master", "nvidia.com/gpu"]
    assert spec["nodeSelector"] == {"nvidia.com/gpu.present": "true"}


def test_probe_of_a_server_with_password_has_one_handler(helm: Callable[..., bytes], tmp_path: Path) -> None:
    values = tmp_path / "gpu.yaml"
    assert run(["nvml", "kepler-values", "--chart-has-nvml", "no", "--basic-auth", "-o", str(values)]) == 0
    probe = pod_spec(helm("template", "kepler", str(CHART), "-f", str(values)))["containers"][0]["livenessProbe"]
    assert probe["tcpSocket"] == {"port": "http"}
    assert "httpGet" not in probe


@pytest.mark.parametrize("has_nvml", [True, False])
@pytest.mark.parametrize("source", ["values", "render"])
def test_chart_is_recognized(helm: Callable[..., bytes], has_nvml: bool, source: str, tmp_path: Path) -> None:
    chart = tmp_path / "chart.yaml"
    nvidia = {"driverPath": "/run/nvidia/driver", "nvmlInitImage": {"repository": "busybox", "tag": "1.36.1"}}
    if source == "values":
        values = yaml.safe_load(helm("show", "values", str(CHART)))
        values["daemonset"] |= {"nvidia": nvidia} if has_nvml else {}
        chart.write_text(yaml.safe_dump(values))
    else:
        given = tmp_path / "given.yaml"
        given.write_text(yaml.safe_dump({"copiesNvml": has_nvml, "daemonset": {"nvidia": nvidia}}))
        chart.write_bytes(helm("template", "kepler", str(CHART), *GPU, "-f", str(given)))
    output = tmp_path / "gpu.yaml"
    assert run(["nvml", "kepler-values", "--chart-values", str(chart), "-o", str(output)]) == 0
    assert ("nvidia" in yaml.safe_load(output.read_text())["daemonset"]) is has_nvml


def test_render_without_gpu_does_not_tell(
    helm: Callable[..., bytes], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    chart = tmp_path / "chart.yaml"
    chart.write_bytes(helm("template", "kepler", str(CHART)))
    assert run(["nvml", "kepler-values", "--chart-values", str(chart)]) == 1
    out, err = capfd.readouterr()
    assert out == ""
    assert "--set config.experimental.gpu.enabled=true" in err


def plugin(folder: Path, *arguments: str) -> Path:
    path = folder / "plugins" / "nvml-post-render"
    assert run(["nvml", "helm-plugin", "-o", str(path), "--name", "kepler", *arguments]) == 0
    return path


def assert_rendered(stdout: bytes, plain: bytes) -> None:
    before, after = pod_spec(plain), pod_spec(stdout)
    assert [container["name"] for container in after["initContainers"]] == ["copy-nvml"]
    assert after["initContainers"][0]["args"] == [copy_script()]
    assert [volume for volume in after["volumes"] if volume not in before["volumes"]] == [
        {"name": "nvml-driver-root", "hostPath": {"path": "/run/nvidia/driver", "type": "DirectoryOrCreate"}},
        {"name": "nvml-copy", "emptyDir": {"sizeLimit": "200Mi"}},
    ]
    assert after["containers"][0]["livenessProbe"]["timeoutSeconds"] == 5
    assert named(after["containers"][0]["env"])["LD_LIBRARY_PATH"]["value"] == "/usr/local/nvidia/lib64"


def test_helm_3_takes_the_program(tmp_path: Path, program: dict[str, str]) -> None:
    path = plugin(tmp_path) / "post-render.sh"
    render = ("template", "kepler", str(CHART), *GPU)
    done = run_helm(3, tmp_path, *render, "--post-renderer", str(path), variables=program)
    assert done.returncode == 0, done.stderr.decode()
    assert_rendered(done.stdout, run_helm(3, tmp_path, *render).stdout)


def test_helm_4_takes_the_plugin(tmp_path: Path, program: dict[str, str]) -> None:
    variables = {**program, "HELM_PLUGINS": str(plugin(tmp_path).parent)}
    render = ("template", "kepler", str(CHART), *GPU)
    done = run_helm(4, tmp_path, *render, "--post-renderer", "nvml-post-render", variables=variables)
    assert done.returncode == 0, done.stderr.decode()
    assert_rendered(done.stdout, run_helm(4, tmp_path, *render).stdout)


@pytest.mark.parametrize("major", [3, 4])
def test_unknown_name_stops_helm(major: int, tmp_path: Path, program: dict[str, str]) -> None:
    path = plugin(tmp_path, "--kind", "DaemonSet")
    renderer = str(path / "post-render.sh") if major == 3 else path.name
    variables = {**program, "HELM_PLUGINS": str(path.parent)} if major == 4 else program
    arguments = ("template", "monitor", str(CHART), "--post-renderer", renderer)
    done = run_helm(major, tmp_path, *arguments, variables=variables)
    assert done.returncode == 1
    assert done.stdout == b""
    # Helm 4.1.4 keeps what a plugin says on stderr to itself.
    reason = (
        b"there is no DaemonSet kepler in the manifests"
        if major == 3
        else b'plugin "nvml-post-render" exited with error'
    )
    assert reason in done.stderr


def test_plugin_keeps_the_options_that_were_given(tmp_path: Path) -> None:
    given = [
        "--wait",
        "60",
        "--gpu-nodes-only",
        "--no-copy",
        "--lib-dir",
        "lib64",
        "--lib-dir",
        "lib",
        "--container",
        "kepler",
    ]
    program = (plugin(tmp_path, *given) / "post-render.sh").read_text()
    expected = "--name kepler --container kepler --lib-dir lib64 --lib-dir lib --wait 60 --no-copy --gpu-nodes-only"
    assert program.splitlines()[-1] == f'exec "${{FLATCAR_GPU:-flatcar-gpu}}" nvml post-render {expected} "$@"'
