"""What Helm 3 and Helm 4 make of the values that we write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from flatcar_gpu.cli import run
from tests.helm_binaries import run_helm

CHART = Path(__file__).parents[1] / "charts" / "echo"
DEFAULTS = yaml.safe_load((CHART / "values.yaml").read_text())
IMAGE = ("--repository", "registry.example.com/nvidia")
DIGEST = "sha256:" + "0123456789abcdef" * 4

COMMANDS = {
    "container": (*IMAGE, "--driver-version", "570.195.03"),
    "digest": (*IMAGE, "--digest", DIGEST, "--image-pull-secret", "registry"),
    "precompiled": (*IMAGE, "--driver-version", "580", "--precompiled", "--toolkit-install-dir", "/opt/nvidia"),
    "resources": (*IMAGE, "--driver-version", "570.195.03", "--nvidia-driver-crd"),
    "sysext": ("--driver", "sysext"),
    "service": ("--driver", "service", "--chart-version", "v24.9.2"),
    "nri": (*IMAGE, "--driver-version", "570.195.03", "--nri"),
    "tolerations": (*IMAGE, "--driver-version", "570.10", "--tolerations", "dedicated=yes:NoExecute,1e3=0x10"),
}


def merged(defaults: Any, given: Any) -> Any:
    """Helm's documented merge: mappings key by key, anything else replaces."""
    if not (isinstance(defaults, dict) and isinstance(given, dict)):
        return given
    return defaults | {key: merged(defaults.get(key), value) for key, value in given.items()}


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("major", [3, 4])
def test_helm_reads_the_values_as_they_are_meant(
    major: int, name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "values.yaml"
    assert run(["values", *COMMANDS[name], "-q", "-o", str(path)]) == 0
    given = yaml.safe_load(path.read_text())
    done = run_helm(major, tmp_path, "template", "gpu-operator", str(CHART), "-f", str(path))
    assert done.returncode == 0, done.stderr.decode()
    data = yaml.safe_load(done.stdout)["data"]
    values = yaml.safe_load(data["values"])
    assert values == merged(DEFAULTS, given)
    assert data["version"] == values["driver"]["version"]
    assert data["driver"] == ("deployed" if given["driver"].get("enabled", True) else "not deployed")


@pytest.mark.parametrize("major", [3, 4])
def test_the_traps_that_check_values_finds_are_real(major: int, tmp_path: Path) -> None:
    text = b'driver:\n  verison: "570.195.03"\n  version: 570.10\n  enabled: "false"\n'
    done = run_helm(major, tmp_path, "template", "gpu-operator", str(CHART), "-f", "-", stdin=text)
    assert done.returncode == 0, done.stderr.decode()
    data = yaml.safe_load(done.stdout)["data"]
    assert data["version"] == "570.1"
    assert data["driver"] == "deployed"
