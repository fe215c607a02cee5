from __future__ import annotations

from pathlib import Path

import pytest

from flatcar_gpu.cli import run
from flatcar_gpu.kubernetes.nvml.pattern import copy_script
from tests.manifests import KEPLER


def test_script_is_written_as_it_is(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["nvml", "script"]) == 0
    assert capfd.readouterr().out == copy_script()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ["--driver-root", "kontainer"],
            "'kontainer' is neither auto, container, sysext, service nor",
        ),
        (["--driver-root", "/a/../b"], "nor an absolute path"),
        (["--image", "busybox"], "'busybox' is not an image with a tag other than latest, or with a digest"),
        (["--size-limit", "200"], "'200' is not a size such as 200Mi"),
        (["--lib-dir", "lib64", "--lib-dir", "proc/1/root"], "'proc/1/root' is not a folder below the driver root"),
        (["--wait", "-1"], "-1 is not in the range"),
        (["--runtime-class", "NVIDIA"], "'NVIDIA' is not a name of Kubernetes"),
        (["--selinux-type", "spc-t"], "'spc-t' is not an SELinux type"),
        (["--kind", "daemonset"], "'daemonset' is not one of"),
    ],
)
def test_wrong_options_are_usage_errors(
    arguments: list[str], says: str, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    manifests = tmp_path / "kepler.yaml"
    manifests.write_text(KEPLER)
    assert run(["nvml", "post-render", str(manifests), "--name", "kepler", *arguments]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert says in err


def test_failure_writes_nothing(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    manifests, output = tmp_path / "kepler.yaml", tmp_path / "out.yaml"
    manifests.write_text(KEPLER)
    assert run(["nvml", "post-render", str(manifests), "--name", "keppler", "-o", str(output)]) == 1
    assert not output.exists()
    assert "there is no workload keppler" in capfd.readouterr().err


def test_broken_document_is_shown(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m.yaml").write_text("a: 1\n---\nkind: DaemonSet\nmetadata: {name: kepler}\nspec: a: b\n")
    assert run(["nvml", "post-render", "m.yaml", "--name", "kepler"]) == 1
    assert capfd.readouterr().err == (
        "m.yaml:5:8: error: document 2 is no YAML for Kubernetes: mapping values are not allowed in this context\n"
        "  5 | spec: a: b\n"
        "    |        ^\n"
    )


def test_target_outside_the_kustomization_s_folder_is_no_resource(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("base").mkdir()
    Path("overlay").mkdir()
    Path("base/kepler.yaml").write_text(KEPLER)
    arguments = ["nvml", "patch", "--name", "kepler", "--target", "base/kepler.yaml", "--kustomization"]
    assert run([*arguments, "-o", "overlay/kustomization.yaml"]) == 0
    assert "\nresources:" not in Path("overlay/kustomization.yaml").read_text()
    assert "the kustomization names no resources" in capfd.readouterr().err
    assert run([*arguments, "-o", "kustomization.yaml"]) == 0
    assert "resources:\n- base/kepler.yaml\n" in Path("kustomization.yaml").read_text()


def test_workload_in_a_list_cannot_be_patched(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    manifests = tmp_path / "list.yaml"
    workload = KEPLER.split("---\n")[1]
    manifests.write_text("kind: List\nitems:\n- " + workload.replace("\n", "\n  "))
    assert run(["nvml", "patch", "--name", "kepler", "--target", str(manifests)]) == 1
    assert "is inside a List" in capfd.readouterr().err


def test_plugin_folder_that_cannot_be_made(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert run(["nvml", "helm-plugin", "--name", "kepler", "-o", str(tmp_path / "file" / "plugin")]) == 1
    assert "cannot make the folder" in capfd.readouterr().err
