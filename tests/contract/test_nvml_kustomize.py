"""The strategic-merge patch under the real kustomize, and kustomize against our own merge."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml

from flatcar_gpu.cli import run
from flatcar_gpu.kubernetes.nvml.pattern import Options, copy_script
from flatcar_gpu.kubernetes.nvml.post_render import post_render
from flatcar_gpu.kubernetes.nvml.selection import Selector
from tests.helm_binaries import require_kubectl
from tests.manifests import KEPLER, named, objects, pod_spec, unordered, with_entry

FORMER_ROOT = with_entry(
    with_entry(
        with_entry(KEPLER, "env", "{name: LD_LIBRARY_PATH, value: '/run/nvidia/driver/usr/lib64:/opt/lib'}"),
        "volumeMounts",
        "{name: nvidia-driver, mountPath: /run/nvidia/driver}",
    ),
    "volumes",
    "{name: nvidia-driver, hostPath: {path: /run/nvidia/driver}}",
)
WAITING = KEPLER.replace("      containers:\n", "      initContainers: [{name: wait, image: x}]\n      containers:\n")


def kustomize(folder: Path) -> str:
    kubectl = require_kubectl()
    done = subprocess.run([kubectl, "kustomize", str(folder)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("manifests", [KEPLER, FORMER_ROOT, WAITING], ids=["kepler", "former-root", "init-container"])
@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--driver-root", "auto", "--wait", "60", "--client-label", "--runtime-class", "nvidia", "--lib-dir", "lib64"],
        ["--basic-auth", "--selinux-type", "spc_t"],
        ["--no-copy", "--liveness", "off"],
    ],
    ids=["plain", "all", "password", "no-copy"],
)
def test_kustomize_and_post_render_agree(
    manifests: str, arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("daemonset.yaml").write_text(manifests)
    target = ["--target", "daemonset.yaml", "--name", "kepler", *arguments]
    assert run(["nvml", "patch", "--kustomization", *target, "-o", "kustomization.yaml"]) == 0
    assert run(["nvml", "post-render", "daemonset.yaml", "--name", "kepler", *arguments, "-o", "rendered.yaml"]) == 0
    assert unordered(pod_spec(kustomize(tmp_path))) == unordered(pod_spec(Path("rendered.yaml").read_text()))


def test_patch_file_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("daemonset.yaml").write_text(KEPLER)
    assert run(["nvml", "patch", "--name", "kepler", "--target", "daemonset.yaml", "-o", "patch.yaml"]) == 0
    Path("kustomization.yaml").write_text("resources: [daemonset.yaml]\npatches: [{path: patch.yaml}]\n")
    result = pod_spec(kustomize(tmp_path))
    assert result["initContainers"][0]["args"] == [copy_script()]
    assert result["tolerations"][0]["key"] == "node-role.kubernetes.io/control-plane"


def test_patch_without_target_fits_any_daemonset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("daemonset.yaml").write_text(KEPLER)
    arguments = ["nvml", "patch", "--name", "kepler", "--namespace", "kepler", "--kustomization"]
    assert run([*arguments, "-o", "kustomization.yaml"]) == 0
    kustomization = yaml.safe_load(Path("kustomization.yaml").read_text())
    Path("kustomization.yaml").write_text(yaml.safe_dump({**kustomization, "resources": ["daemonset.yaml"]}))
    result = pod_spec(kustomize(tmp_path))
    assert len(result["containers"]) == 1
    assert len(result["tolerations"]) == 1
    assert result["containers"][0]["livenessProbe"]["httpGet"] == {"path": "/", "port": "http"}
    expected, _ = post_render(KEPLER.encode(), "test.yaml", Selector("kepler"), Options())
    assert named(result["volumes"]) == named(pod_spec(expected)["volumes"])


def test_namespace_among_the_resources_is_labelled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespaces = "".join(
        f"apiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}}}\n---\n" for name in ("kepler", "other")
    )
    Path("all.yaml").write_text(namespaces + KEPLER)
    assert (
        run(
            ["nvml", "patch", "--name", "kepler", "--target", "all.yaml", "--kustomization", "-o", "kustomization.yaml"]
        )
        == 0
    )
    labels = {
        tree["metadata"]["name"]: tree["metadata"].get("labels", {})
        for tree in objects(kustomize(tmp_path))
        if tree["kind"] == "Namespace"
    }
    assert labels["other"] == {}
    assert labels["kepler"]["pod-security.kubernetes.io/enforce"] == "privileged"
