"""The files of a folder in which driver images are built."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from string import Template
from typing import TYPE_CHECKING

from flatcar_gpu.errors import Failure
from flatcar_gpu.images.reference import is_digest, parse_name
from flatcar_gpu.resources import data_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flatcar_gpu.images.reference import Reference
    from flatcar_gpu.images.tags import Driver

UPSTREAM_URL = "https://github.com/NVIDIA/gpu-driver-container.git"
UPSTREAM_COMMIT = "b63fda1543ffe5bea4f050bd17478053cce665f7"
"""Parent of 7a164e306707e4e861f9fc60225593f9479e309a (2026-04-28), which removed the flatcar folder."""

RELEASES_URL = "https://www.flatcar.org/releases-json"
"""Upstream's script has www.flatcar-linux.org, which redirected here when it last was looked at."""

EXECUTABLE, PLAIN = 0o755, 0o644


@dataclass(frozen=True, slots=True)
class Build:
    """An image to build: the tag that the operator asks for on that release. `kernel` is as `uname -r` prints it."""

    version: str
    channel: str
    kernel: str
    reference: Reference
    shares_kernel_with: tuple[str, ...] = ()


def build_folder(driver: Driver, builds: Sequence[Build], *, bake: bool) -> dict[str, tuple[bytes, int]]:
    """Names, contents and modes of the files. `bake` puts compiled kernel interfaces into the images.

    Precompiled images have them in any case. Raises Failure where the driver is a digest: there is nothing to build.
    """
    if is_digest(driver.version):
        raise Failure(f"{driver.version} is an image that exists", hint="give the version of the driver to build")
    bake = bake or driver.precompiled
    texts = {
        "build.sh": data_text("images/build/build.sh"),
        "settings.sh": _settings(driver, bake=bake),
        "releases.txt": "".join(f"{one.version} {one.channel} {one.kernel} {one.reference}\n" for one in builds),
        "matrix.json": _json({"include": [_variables(one) for one in builds]}, indent=None),
        "gitlab-ci.yml": _json(_pipeline(builds), indent=2),
        "README.md": _readme(driver, builds, bake=bake),
        ".gitignore": "/work/\n",
    }
    return {name: (text.encode(), EXECUTABLE if name == "build.sh" else PLAIN) for name, text in texts.items()}


def _settings(driver: Driver, *, bake: bool) -> str:
    values = {
        "DRIVER_VERSION": driver.version,
        "BAKE": "yes" if bake else "no",
        "UPSTREAM_URL": UPSTREAM_URL,
        "UPSTREAM_COMMIT": UPSTREAM_COMMIT,
        "RELEASES_URL": RELEASES_URL,
    }
    lines = [f"{name}={shlex.quote(value)}\n" for name, value in values.items()]
    return "# shellcheck shell=sh disable=SC2034\n" + "".join(lines)


def _variables(build: Build) -> dict[str, str]:
    return {
        "FLATCAR_RELEASE": build.version,
        "FLATCAR_CHANNEL": build.channel,
        "FLATCAR_KERNEL": build.kernel,
        "IMAGE": str(build.reference),
    }


def _pipeline(builds: Sequence[Build]) -> Mapping[str, object]:
    """A child pipeline of GitLab, which takes neither an empty pipeline nor an empty matrix."""
    if not builds:
        return {"nothing-to-build": {"script": ["echo 'all images are there'"]}}
    script = ['./build.sh --push "$FLATCAR_RELEASE"']
    return {"build": {"parallel": {"matrix": [_variables(one) for one in builds]}, "script": script}}


def _json(data: object, *, indent: int | None) -> str:
    # The matrix is one line, because the outputs of a step in GitHub Actions are.
    return json.dumps(data, indent=indent) + "\n"


def _readme(driver: Driver, builds: Sequence[Build], *, bake: bool) -> str:
    rows = [f"| {one.version} | {one.channel} | {one.kernel} | `{one.reference}` |" for one in builds]
    shared = [f"{one.version} with {', '.join(one.shares_kernel_with)}" for one in builds if one.shares_kernel_with]
    baking = (
        "Compiled kernel interfaces are baked in: that runs the image once, privileged, and needs the loop module on "
        "the building machine."
        if bake
        else "The images compile their kernel interface on the node when they start."
    )
    return Template(data_text("images/build/README.md.in")).substitute(
        driver_version=driver.version,
        commit=UPSTREAM_COMMIT,
        releases_url=RELEASES_URL,
        table="\n".join(["| release | channel | kernel | image |", "|---|---|---|---|", *rows]),
        shared=f" Here: {'; '.join(shared)}." if shared else "",
        example=builds[0].version if builds else "RELEASE",
        registry=parse_name(f"{driver.repository}/{driver.image}").registry,
        repository=driver.repository,
        image=driver.image,
        precompiled=str(driver.precompiled).lower(),
        bake=baking,
    )
