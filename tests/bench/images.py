"""Checking 200 tags of a real registry beside 200 runs of skopeo, and an audit of 10,000 nodes with its peak memory."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flatcar_gpu.flatcar.snapshot import snapshot
from tests.bench._processes import PROGRAM
from tests.registries import running_registry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.registries import Registry

TAGS = 200
NODES = 10_000
RELEASES = {
    "2905.2.0": "5.10.52-flatcar",
    "4459.2.0": "6.12.54-flatcar",
    "4593.2.0": "6.12.81-flatcar",
    "4593.2.3": "6.12.87-flatcar",
    "4593.2.4": "6.12.95-flatcar",
    "4593.2.5": "6.12.102-flatcar",
}


def measure() -> Iterator[str]:
    if not (shutil.which("docker-registry") and shutil.which("skopeo")):
        yield "docker-registry or skopeo is not installed"
        return
    with tempfile.TemporaryDirectory() as name, running_registry(Path(name)) as registry:
        yield from _check(registry, Path(name))
        yield from _audit(registry, Path(name))


def _check(registry: Registry, folder: Path) -> Iterator[str]:
    releases = [str(release.version) for release in snapshot()][:TAGS]
    references = [f"{registry.host}/nvidia/driver:580-flatcar{release}" for release in releases]
    for release in releases:
        registry.push("nvidia/driver", f"580-flatcar{release}", salt=release)
    authfile = _nobody(folder)
    flags = [word for release in releases for word in ("--flatcar", release)]
    where = ["--repository", f"{registry.host}/nvidia", "--authfile", authfile, "--offline", "--quiet"]
    check = [*PROGRAM, "image", "check", "--driver-version", "580", *where, *flags]
    ours, without = _seconds(check), _seconds([*check, "--no-platforms"])
    inspect = ["skopeo", "inspect", "--no-tags", "--tls-verify=false", "--authfile", authfile]
    theirs = sum(_seconds([*inspect, f"docker://{reference}"]) for reference in references)
    yield f"skopeo inspect, {TAGS} times                        {theirs:6.2f} s"
    yield f"image check, {TAGS} tags: digest and platforms      {ours:6.2f} s, {theirs / ours:5.1f} times faster"
    yield f"image check, {TAGS} tags: digest alone              {without:6.2f} s, {theirs / without:5.1f} times faster"


def _audit(registry: Registry, folder: Path) -> Iterator[str]:
    for release in RELEASES:
        registry.push("nvidia/driver", f"580-flatcar{release}")
    for size, images in (("plain", 0), ("with 50 images each", 50)):
        file = folder / "nodes.json"
        file.write_text(json.dumps({"kind": "List", "items": list(_nodes(images))}, indent=4))
        where = ["--repository", f"{registry.host}/nvidia", "--authfile", _nobody(folder), "--offline", "--quiet"]
        command = [*PROGRAM, "image", "audit", "--driver-version", "580", *where, str(file)]
        seconds, peak = _seconds(command), _peak_megabytes(command)
        megabytes = file.stat().st_size / 1e6
        yield f"image audit, {NODES} nodes {size} ({megabytes:.0f} MB)  {seconds:6.2f} s, peak {peak:.0f} MB"


def _nodes(images: int) -> Iterator[dict[str, Any]]:
    listed = [
        {"names": [f"registry.example.com/team/image-{n}@sha256:{'ab' * 32}"], "sizeBytes": n} for n in range(images)
    ]
    prefix = "feature.node.kubernetes.io/"
    more = {f"{prefix}cpu-cpuid.FEATURE{number}": "true" for number in range(60)}
    for number in range(NODES):
        release, kernel = list(RELEASES.items())[number % len(RELEASES)]
        labels = {
            f"{prefix}pci-10de.present": "true",
            f"{prefix}system-os_release.ID": "flatcar",
            f"{prefix}system-os_release.VERSION_ID": release,
            f"{prefix}kernel-version.full": kernel,
        }
        info = {
            "osImage": f"Flatcar Container Linux by Kinvolk {release} (Oklo)",
            "kernelVersion": kernel,
            "architecture": "amd64",
        }
        yield {
            "kind": "Node",
            "metadata": {"name": f"gpu-{number:05}", "labels": labels | more},
            "status": {"images": listed, "nodeInfo": info},
        }


def _nobody(folder: Path) -> str:
    path = folder / "nobody.json"
    path.write_text("{}")
    return str(path)


def _seconds(command: Sequence[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def _peak_megabytes(command: Sequence[str]) -> float:
    """Peak resident memory of one process; a child of its own reports it, because the figure is the largest so far."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
        os.write(write, str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss).encode())
        os._exit(0)
    os.close(write)
    os.waitpid(child, 0)
    with os.fdopen(read) as result:
        return int(result.read()) / 1024
