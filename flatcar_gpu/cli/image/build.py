"""flatcar-gpu image build"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from flatcar_gpu.cli import framework
from flatcar_gpu.cli.image.options import driver_options, look_up_all, registry_options
from flatcar_gpu.cli.index_options import find_release, index_options
from flatcar_gpu.errors import Failure
from flatcar_gpu.files import write_folder
from flatcar_gpu.images.build.recipe import Build, build_folder
from flatcar_gpu.images.findings import findings
from flatcar_gpu.images.lookup import State
from flatcar_gpu.images.tags import driver_image
from flatcar_gpu.report import Report

if TYPE_CHECKING:
    from flatcar_gpu.cli.console import Console
    from flatcar_gpu.cli.image.options import RegistryArguments
    from flatcar_gpu.flatcar.access import Access
    from flatcar_gpu.flatcar.index import Release
    from flatcar_gpu.images.tags import Driver


@framework.command()
@driver_options
@click.option(
    "--flatcar", multiple=True, required=True, metavar="VERSION|CHANNEL", help="A release; give it once for each."
)
@click.option("--bake", is_flag=True, help="Compile the kernel interface into the image; --precompiled does so, too.")
@click.option("--only-missing", is_flag=True, help="Leave out what the registry has.")
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="FOLDER",
    help="Make this folder, whole or not at all; it must not exist or be empty.",
)
@registry_options
@index_options
@click.pass_obj
def command(
    console: Console,
    driver: Driver,
    flatcar: tuple[str, ...],
    bake: bool,
    only_missing: bool,
    output: str,
    registry: RegistryArguments,
    access: Access,
) -> None:
    """Write a folder that builds driver images for some releases, with a script and a matrix for CI.

    The images come from NVIDIA's last tree that had Flatcar; its README says what upstream removed since, and what is
    unproven on current releases. Nothing is built here, and no registry is asked without --only-missing.

    \b
    flatcar-gpu image build --driver-version 580.126.20 --repository registry.example.com/nvidia \\
        --flatcar stable --flatcar beta -o driver-images
    """
    builds = list(
        dict.fromkeys(_build(find_release(name, access, console).release, driver, access) for name in flatcar)
    )
    if only_missing:
        found = look_up_all([build.reference for build in builds], registry, access, console)
        report = findings(lookup for lookup in found.values() if lookup.state in (State.DENIED, State.UNKNOWN))
        if report.has_errors:
            console.report(report)
            raise Failure("which images are missing cannot be told, nothing is written")
        builds = [build for build in builds if found[build.reference].on("amd64").state is not State.PRESENT]
    write_folder(output, build_folder(driver, builds, bake=bake))
    _warn(builds, console)


def _build(release: Release, driver: Driver, access: Access) -> Build:
    version = str(release.version)
    if release.uname is None or release.channel is None:
        raise Failure(f"the release index does not say the kernel or the channel of {version}")
    alike = _alike(release, access)
    reference = driver_image(driver, "flatcar", version, release.uname).reference
    return Build(version, release.channel, release.uname, reference, alike)


def _alike(release: Release, access: Access) -> tuple[str, ...]:
    """Other releases of the channel with the same kernel, from what this machine knows."""
    from flatcar_gpu.flatcar.sources import at_hand

    found = {
        other.version
        for part in at_hand(access)
        for other in part.index.with_kernel(release.kernel or "")
        if other.channel == release.channel and other.version != release.version
    }
    return tuple(map(str, sorted(found)))


def _warn(builds: list[Build], console: Console) -> None:
    report = Report()
    if not builds:
        report.warning("the registry has all images, so that there is nothing to build")
    for build in builds:
        if build.shares_kernel_with:
            report.warning(
                f"{build.version} has the kernel of {', '.join(build.shares_kernel_with)}: upstream's script finds "
                "releases by their kernel, and its builds of kernel interfaces can fail",
                hint="choose a release with a kernel of its own",
            )
    console.report(report)
