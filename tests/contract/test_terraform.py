"""What real Terraform makes of `flatcar-gpu terraform` and of the module in examples/terraform.

Terraform, its reading of HCL and the program are real; the provider hashicorp/external is an emulation of ours
(external_provider.py), since the real one comes only from Terraform's registry.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.tools import require_tool

ROOT = Path(__file__).parents[2]
MODULE = ROOT / "examples" / "terraform"
PROVIDER = Path(__file__).parent / "external_provider.py"
IMAGE = {"repository": "registry.example.com/nvidia", "driver_version": "580.126.09"}
RELEASE = "4593.2.5"


class Workspace:
    """A folder with configuration, and Terraform run in it."""

    def __init__(self, folder: Path, terraform: str) -> None:
        self.folder, self.terraform = folder, terraform
        self.module = folder / "module"
        programs = folder / "programs"
        programs.mkdir()
        self._program(programs / "flatcar-gpu", f'exec "{sys.executable}" -m flatcar_gpu "$@"')
        self._program(programs / "terraform-provider-external", f'exec "{sys.executable}" "{PROVIDER}" "$@"')
        (folder / "terraform.rc").write_text(
            f'provider_installation {{\n  dev_overrides {{ "hashicorp/external" = "{programs}" }}\n  direct {{}}\n}}\n'
        )
        self.environment = {
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "HOME": str(folder),
            "TF_CLI_CONFIG_FILE": str(folder / "terraform.rc"),
            "CHECKPOINT_DISABLE": "1",
        }

    @staticmethod
    def _program(path: Path, command: str) -> None:
        path.write_text(f"#!/bin/sh\n{command}\n")
        path.chmod(0o755)

    def example(self, **variables: Any) -> None:
        """The module of the examples, with these values of its variables."""
        shutil.copytree(MODULE, self.module)
        (self.module / "terraform.tfvars.json").write_text(json.dumps({"flatcar": RELEASE, **variables}))

    def configuration(self, text: str) -> None:
        self.module.mkdir()
        shutil.copy(MODULE / "versions.tf", self.module)
        (self.module / "main.tf").write_text(text)

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [self.terraform, f"-chdir={self.module}", *arguments]
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=120)

    def outputs(self) -> dict[str, Any]:
        """The outputs after an apply, which changes nothing in any world: the module has only data."""
        applied = self.run("apply", "-auto-approve", "-no-color", "-input=false")
        assert applied.returncode == 0, applied.stderr
        shown = json.loads(self.run("output", "-json").stdout)
        return {name: output["value"] for name, output in shown.items()}


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    terraform = require_tool("terraform")
    if importlib.util.find_spec("tf") is None:
        pytest.skip("the Python package tf, which the emulated provider is made with, is not installed")
    return Workspace(tmp_path, terraform)


def _words(text: str) -> str:
    """What Terraform's human form says, without its frame and line breaks."""
    return re.sub(r"[\s│╷╵]+", " ", text)


def test_the_example_is_formatted() -> None:
    terraform = require_tool("terraform")
    done = subprocess.run(
        [terraform, "fmt", "-check", "-diff", "-recursive", str(MODULE)], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_the_example_is_valid(workspace: Workspace) -> None:
    workspace.example()
    found = json.loads(workspace.run("validate", "-json").stdout)
    assert (found["valid"], found["error_count"]) == (True, 0)
    assert [each["summary"] for each in found["diagnostics"]] == ["Provider development overrides are in effect"]


def test_the_example_plans_and_gives_what_the_commands_print(workspace: Workspace) -> None:
    workspace.example(**IMAGE, spec={"updates": {"hold": True}})
    outputs = workspace.outputs()
    options = ["--flatcar", RELEASE, "--hold-updates"]
    image = ["--repository", IMAGE["repository"], "--driver-version", IMAGE["driver_version"]]

    def printed(command: str, *more: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "flatcar_gpu", command, *options, *more], cwd=ROOT, capture_output=True, check=True
        )
        return done.stdout.decode()

    ignition = printed("ignition", *image[2:]).rstrip("\n")
    assert outputs["ignition"] == ignition
    assert outputs["ignition_sha256"] == hashlib.sha256(ignition.encode()).hexdigest()
    assert outputs["butane"] == printed("butane", *image[2:])
    assert outputs["helm_values"] == printed("values", *image)
    assert outputs["driver_image"] == f"{IMAGE['repository']}/driver:580.126.09-flatcar{RELEASE}"
    assert outputs["flatcar_version"] == RELEASE


def test_a_second_plan_changes_nothing(workspace: Workspace) -> None:
    workspace.example(**IMAGE)
    workspace.outputs()
    assert workspace.run("plan", "-detailed-exitcode", "-input=false").returncode == 0


def test_the_plan_does_not_show_the_ignition_config(workspace: Workspace) -> None:
    snippet = (
        "variant: flatcar\nversion: 1.0.0\nstorage:\n  files:\n  - path: /etc/x\n    contents: {inline: hunter2}\n"
    )
    workspace.example(**IMAGE, snippets=[snippet])
    planned = workspace.run("plan", "-no-color", "-input=false")
    assert planned.returncode == 0, planned.stderr
    assert "+ ignition        = (sensitive value)" in planned.stdout
    assert "hunter2" not in planned.stdout + planned.stderr


def test_the_plan_shows_every_error_readably(workspace: Workspace) -> None:
    workspace.example(spec={"driver": {"strategy": "contaner"}, "modules": ["a b"]})
    planned = workspace.run("plan", "-no-color", "-input=false")
    said = _words(planned.stderr)
    assert planned.returncode == 1
    assert "External Program Execution Failed" in said
    assert (
        "error: query.spec.driver.strategy: 'contaner' is not one of container, sysext, service, none; "
        "try: did you mean 'container'?" in said
    )
    assert "error: query.spec.modules.0: 'a b' is not the name of a kernel module" in said
    assert "\x1b" not in planned.stderr


def test_the_plan_shows_warnings_and_goes_on(workspace: Workspace) -> None:
    workspace.example(spec={"driver": {"strategy": "sysext"}})
    planned = workspace.run("plan", "-no-color", "-input=false")
    assert planned.returncode == 0, planned.stderr
    said = _words(planned.stdout + planned.stderr)
    assert "Warning: Check block assertion failed" in said
    assert "warning[FG115]: query.runtime_sysext_hash: " in said or "warning[FG115]: query.spec" in said


def test_a_config_above_the_limit_fails_the_plan(workspace: Workspace) -> None:
    workspace.example(**IMAGE, user_data_limit=1000)
    planned = workspace.run("plan", "-no-color", "-input=false")
    assert planned.returncode == 1
    assert re.search(r"The Ignition config takes \d+ bytes, allowed are 1000", _words(planned.stderr))


def test_a_config_above_the_platform_s_limit_fails_the_plan(workspace: Workspace) -> None:
    snippet = "variant: flatcar\nversion: 1.0.0\nstorage:\n  files:\n  - path: /etc/x\n    contents: {inline: %s}\n"
    random = "".join(hashlib.sha256(str(number).encode()).hexdigest() for number in range(600))
    workspace.example(**IMAGE, platform="aws", snippets=[snippet % random])
    planned = workspace.run("plan", "-no-color", "-input=false")
    assert planned.returncode == 1
    assert "of the 16,384 that aws allows as user data" in _words(planned.stderr)


def test_ten_queries_at_once_and_values_that_hcl_turns_into_texts(workspace: Workspace) -> None:
    workspace.configuration(
        'data "external" "node" {\n  count = 12\n  program = ["flatcar-gpu", "terraform"]\n'
        '  query = { hold_updates = true, driver = "sysext", digest = "", image = null, ignore = "FG115",\n'
        '    snippets = jsonencode([yamlencode({ variant = "flatcar", version = "1.0.0", storage = { files = '
        '[{ path = "/etc/motd", contents = { inline = "e\\u0301 <&> ${count.index}" } }] } })]) }\n}\n'
        'output "answers" { value = data.external.node[*].result }\n'
        'output "sums" { value = [for node in data.external.node : sha256(node.result.ignition)] }\n'
    )
    outputs = workspace.outputs()
    answers = outputs["answers"]
    assert len({answer["ignition"] for answer in answers}) == 12
    assert outputs["sums"] == [answer["ignition_sha256"] for answer in answers]
    assert {answer["warnings"] for answer in answers} == {"[]"}
    assert all("SERVER=disabled" in answer["butane"] for answer in answers)
