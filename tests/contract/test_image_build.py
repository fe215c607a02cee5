"""The build folder: what is written, and what its script does with a git and a docker that only record calls."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from flatcar_gpu.cli import run
from flatcar_gpu.images.build.recipe import UPSTREAM_COMMIT
from tests.registries import running_registry
from tests.tools import require_tool

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "flatcar_gpu" / "images" / "build" / "build.sh"
REPOSITORY = "registry.example.com/nvidia"

# What upstream's script has of importance, at the commit that is pinned.
UPSTREAM_SCRIPT = """#! /bin/bash
COREOS_RELEASE_CHANNEL=stable
curl -Ls https://www.flatcar-linux.org/releases-json/releases-stable.json
"""

GIT = """#!/bin/sh
echo "git $*" >> "$CALLS"
case "$*" in
*rev-parse*) echo "$COMMIT" ;;
"init "*)
    mkdir -p "$3/.git" "$3/flatcar"
    touch "$3/flatcar/Dockerfile"
    cp "$UPSTREAM" "$3/flatcar/nvidia-driver"
    ;;
esac
"""

DOCKER = """#!/bin/sh
echo "docker $*" >> "$CALLS"
case "$1" in
run) [ -z "${RUN_FAILS:-}" ] || exit 1; cat >> "$CALLS" ;;
build) for last; do :; done; cat "$last/nvidia-driver" >> "$CALLS" ;;
esac
"""


def write(folder: Path, *args: str, releases: Sequence[str] = ("2905.2.0", "3510.3.8")) -> int:
    flags = [word for release in releases for word in ("--flatcar", release)]
    options = ["--offline", "--driver-version", "460.73.01", "-o", str(folder)]
    where = [] if "--repository" in args else ["--repository", REPOSITORY]
    return run(["image", "build", *options, *where, *flags, *args])


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    folder = tmp_path / "programs"
    folder.mkdir()
    for name, text in (("git", GIT), ("docker", DOCKER)):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    (tmp_path / "nvidia-driver").write_text(UPSTREAM_SCRIPT)
    return folder


def build(folder: Path, programs: Path, *args: str, **environment: str) -> subprocess.CompletedProcess[str]:
    own = {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "CALLS": str(programs / "calls"),
        "COMMIT": UPSTREAM_COMMIT,
        "UPSTREAM": str(programs.parent / "nvidia-driver"),
    }
    return subprocess.run(
        [str(folder / "build.sh"), *args],
        env={**os.environ, **own, **environment},
        input="not for the programs\n",
        capture_output=True,
        text=True,
    )


def calls(programs: Path) -> list[str]:
    return (programs / "calls").read_text().splitlines()


def test_shellcheck_has_nothing_to_say(tmp_path: Path) -> None:
    assert write(tmp_path / "images") == 0
    scripts = [str(SCRIPT), str(tmp_path / "images" / "settings.sh")]
    done = subprocess.run([require_tool("shellcheck"), *scripts], capture_output=True, text=True)
    assert done.stdout == ""
    assert done.returncode == 0


def test_the_folder_has_the_script_as_it_is_and_a_matrix_for_ci(tmp_path: Path) -> None:
    folder = tmp_path / "images"
    assert write(folder) == 0
    assert (folder / "build.sh").read_bytes() == SCRIPT.read_bytes()
    assert os.access(folder / "build.sh", os.X_OK)
    rows = [
        {
            "FLATCAR_RELEASE": release,
            "FLATCAR_CHANNEL": channel,
            "FLATCAR_KERNEL": kernel,
            "IMAGE": f"{REPOSITORY}/driver:460.73.01-flatcar{release}",
        }
        for release, channel, kernel in (
            ("2905.2.0", "stable", "5.10.52-flatcar"),
            ("3510.3.8", "lts", "5.15.189-flatcar"),
        )
    ]
    text = (folder / "matrix.json").read_text()
    assert json.loads(text) == {"include": rows}
    assert text.count("\n") == 1
    pipeline = yaml.safe_load((folder / "gitlab-ci.yml").read_text())
    assert pipeline["build"]["parallel"]["matrix"] == rows


def test_the_readme_says_what_upstream_removed_and_what_is_unproven(tmp_path: Path) -> None:
    assert write(tmp_path / "images", releases=["4152.2.1"]) == 0
    text = (tmp_path / "images" / "README.md").read_text()
    assert "deleted its `flatcar` folder on 2026-04-28" in text
    assert UPSTREAM_COMMIT in text
    assert "Unproven on current releases" in text
    assert "Here: 4152.2.1 with 4152.2.0." in text
    assert "$" not in text.partition("## In CI")[0]


def test_each_release_is_built_from_the_pinned_tree_with_address_and_channel_corrected(
    tmp_path: Path, programs: Path
) -> None:
    folder = tmp_path / "images"
    assert write(folder) == 0
    done = build(folder, programs)
    assert done.returncode == 0, done.stderr
    upstream, tag = folder / "work" / "gpu-driver-container", f"{REPOSITORY}/driver:460.73.01-flatcar"
    assert calls(programs) == [
        f"git init --quiet {upstream}",
        f"git -C {upstream} remote add origin https://github.com/NVIDIA/gpu-driver-container.git",
        f"git -C {upstream} fetch --quiet --depth 1 origin {UPSTREAM_COMMIT}",
        f"git -C {upstream} checkout --quiet --force --detach {UPSTREAM_COMMIT}",
        f"git -C {upstream} rev-parse HEAD",
        f"docker build --build-arg DRIVER_VERSION=460.73.01 --tag {tag}2905.2.0 {folder}/work/2905.2.0",
        "#! /bin/bash",
        "COREOS_RELEASE_CHANNEL=stable",
        "curl -Ls https://www.flatcar.org/releases-json/releases-stable.json",
        f"docker build --build-arg DRIVER_VERSION=460.73.01 --tag {tag}3510.3.8 {folder}/work/3510.3.8",
        "#! /bin/bash",
        "COREOS_RELEASE_CHANNEL=lts",
        "curl -Ls https://www.flatcar.org/releases-json/releases-lts.json",
    ]
    assert (folder / "work" / "gpu-driver-container" / "flatcar" / "nvidia-driver").read_text() == UPSTREAM_SCRIPT


def test_one_release_can_be_built_and_pushed(tmp_path: Path, programs: Path) -> None:
    folder = tmp_path / "images"
    assert write(folder) == 0
    assert build(folder, programs, "--push", "3510.3.8").returncode == 0
    docker = [call.split()[1] for call in calls(programs) if call.startswith("docker ")]
    assert docker == ["build", "push"]
    assert calls(programs)[-1] == f"docker push {REPOSITORY}/driver:460.73.01-flatcar3510.3.8"


def test_baking_runs_update_and_commits_with_the_entry_point_set_anew(tmp_path: Path, programs: Path) -> None:
    folder = tmp_path / "images"
    assert write(folder, "--precompiled", releases=["2905.2.0"]) == 0
    assert build(folder, programs).returncode == 0
    image = f"{REPOSITORY}/driver:460.73.01-5.10.52-flatcar-flatcar2905.2.0"
    run_call, commit, remove = [call for call in calls(programs) if call.startswith("docker ")][1:]
    container = run_call.split()[3]
    assert container.startswith("flatcar-gpu-bake-2905.2.0-")
    assert run_call == f"docker run --name {container} --privileged {image} update --kernel 5.10.52-flatcar"
    changes = """--change ENTRYPOINT ["nvidia-driver", "init"] --change CMD []"""
    assert commit == f"docker commit {changes} {container} {image}"
    assert remove == f"docker rm --force {container}"
    assert "not for the programs" not in calls(programs)


def test_a_container_that_fails_is_removed_and_nothing_is_pushed(tmp_path: Path, programs: Path) -> None:
    folder = tmp_path / "images"
    assert write(folder, "--bake", releases=["2905.2.0"]) == 0
    assert build(folder, programs, "--push", RUN_FAILS="1").returncode == 1
    docker = [call.split()[1] for call in calls(programs) if call.startswith("docker ")]
    assert docker == ["build", "run", "rm"]


@pytest.mark.parametrize(
    ("args", "environment", "says"),
    [
        (["2905.2"], {}, "releases.txt has no 2905.2"),
        (["--pull"], {}, "unknown option --pull"),
        ([], {"COMMIT": "0000"}, "gave commit 0000 instead of"),
    ],
)
def test_the_script_stops_where_something_is_wrong(
    args: list[str], environment: dict[str, str], says: str, tmp_path: Path, programs: Path
) -> None:
    folder = tmp_path / "images"
    assert write(folder) == 0
    done = build(folder, programs, *args, **environment)
    assert done.returncode == 1
    assert says in done.stderr
    assert not any(call.startswith("docker ") for call in (calls(programs) if (programs / "calls").exists() else []))


def test_a_tree_that_is_not_as_known_is_not_built(tmp_path: Path, programs: Path) -> None:
    folder = tmp_path / "images"
    assert write(folder) == 0
    (tmp_path / "nvidia-driver").write_text("COREOS_RELEASE_CHANNEL=stable\n")
    done = build(folder, programs)
    assert done.returncode == 1
    assert "does not look releases up where it is known to" in done.stderr


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "mine").touch()
    assert write(tmp_path / "images") == 1
    assert "is not empty" in capsys.readouterr().err
    assert [path.name for path in tmp_path.rglob("*")] == ["images", "mine"]


def test_only_what_is_missing_is_built(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "registry").mkdir()
    authfile = tmp_path / "auth.json"
    authfile.write_text("{}")
    with running_registry(tmp_path / "registry") as registry:
        registry.push("nvidia/driver", "460.73.01-flatcar2905.2.0")
        options = ["--repository", f"{registry.host}/nvidia", "--only-missing", "--authfile", str(authfile)]
        assert write(tmp_path / "one", *options) == 0
        assert write(tmp_path / "none", *options, releases=["2905.2.0"]) == 0
    assert [line.split()[0] for line in (tmp_path / "one" / "releases.txt").read_text().splitlines()] == ["3510.3.8"]
    assert json.loads((tmp_path / "none" / "matrix.json").read_text()) == {"include": []}
    assert "nothing to build" in capsys.readouterr().err
    assert write(tmp_path / "three", *options, "--retry-times", "0") == 1
    assert not (tmp_path / "three").exists()
