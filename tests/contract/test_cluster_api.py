"""What kustomize makes of a template and of the patch that `flatcar-gpu capi` writes."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import yaml

from flatcar_gpu.cli import run
from tests.helm_binaries import require_kubectl

EXAMPLE = Path(__file__).parents[2] / "examples" / "cluster-api"


def test_the_patch_adds_the_node_and_leaves_the_rest_of_the_template(tmp_path: Path) -> None:
    kubectl = require_kubectl()
    folder = tmp_path / "example"
    shutil.copytree(EXAMPLE, folder)
    assert run(["capi", "-o", str(folder / "gpu-patch.yaml")]) == 0
    done = subprocess.run([kubectl, "kustomize", str(folder)], capture_output=True, check=True)
    patched = yaml.safe_load(done.stdout)
    bootstrap = patched["spec"]["template"]["spec"]
    assert bootstrap.pop("format") == "ignition"
    config = bootstrap.pop("ignition")["containerLinuxConfig"]
    assert config["strict"] is True
    assert "usr-local.mount" in [
        unit["name"] for unit in yaml.safe_load(config["additionalConfig"])["systemd"]["units"]
    ]
    assert patched == yaml.safe_load((EXAMPLE / "template.yaml").read_text())
