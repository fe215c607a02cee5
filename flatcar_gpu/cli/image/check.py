"""flatcar-gpu image check"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from flatcar_gpu.cli import framework
from flatcar_gpu.cli.image.options import (
    all_nodes_option,
    arch_option,
    driver_options,
    look_up_all,
    registry_options,
    tag_format_option,
)
from flatcar_gpu.cli.image.targets import find_target
from flatcar_gpu.cli.index_options import index_options
from flatcar_gpu.cli.options import output_option
from flatcar_gpu.files import write_output
from flatcar_gpu.images.findings import findings
from flatcar_gpu.images.tags import driver_image

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from flatcar_gpu.cli.console import Console
    from flatcar_gpu.cli.image.options import RegistryArguments
    from flatcar_gpu.flatcar.access import Access
    from flatcar_gpu.images.lookup import Lookup
    from flatcar_gpu.images.reference import Reference
    from flatcar_gpu.images.tags import Driver


@dataclass(frozen=True, slots=True)
class Wanted:
    """An image that has to be there, and for what. `nodes` is 0 where it is asked for a release, not for nodes."""

    release: str
    kernel: str | None
    architecture: str
    reference: Reference
    nodes: int = 0


@framework.command()
@driver_options
@click.option("--flatcar", multiple=True, metavar="VERSION|CHANNEL", help="A release; give it once for each.")
@click.option("--nodes", metavar="FILE", help="The releases of the GPU nodes in this list, `-` being stdin.")
@all_nodes_option
@arch_option
@tag_format_option
@click.option(
    "--platforms/--no-platforms",
    default=True,
    help="Without, each image is asked for once, by HEAD, which counts as no pull; platforms are not checked.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json", "junit"]),
    default="table",
    help="Form of the output; junit is XML for CI.  [default: table]",
)
@output_option
@registry_options
@index_options
@click.pass_obj
def command(
    console: Console,
    driver: Driver,
    flatcar: tuple[str, ...],
    nodes: str | None,
    all_nodes: bool,
    arch: str,
    platforms: bool,
    form: str,
    output: str,
    registry: RegistryArguments,
    access: Access,
) -> int:
    """Say which images for some releases are in the registry, with digest and platforms.

    Missing, denied and unknown are told apart. Exits with 1 unless all are there for the nodes' architecture. --arch
    is for --flatcar; of --nodes each has its own.

    \b
    flatcar-gpu image check --driver-version 580.126.20 --flatcar stable --flatcar lts-2024
    kubectl get nodes -o json | flatcar-gpu image check --driver-version 580.126.20 --nodes - --format junit
    """
    wanted = list(_of_releases(flatcar, arch, driver, access, console))
    if nodes is not None:
        wanted += _of_nodes(nodes, all_nodes, driver)
    if not wanted:
        raise click.UsageError("Give --flatcar or --nodes.")
    references = [one.reference for one in wanted]
    found = look_up_all(references, registry, access, console, platforms=platforms)
    lookups = [found[one.reference].on(one.architecture) for one in wanted]
    write_output(output, _FORMS[form](wanted, lookups))
    report = findings(lookups)
    console.report(report)
    return int(report.has_errors)


def _of_releases(names: Sequence[str], arch: str, driver: Driver, access: Access, console: Console) -> Iterator[Wanted]:
    for name in dict.fromkeys(names):
        target = find_target(name, driver, access, console)
        reference = driver_image(driver, "flatcar", target.version, target.kernel).reference
        yield Wanted(target.version, target.kernel, arch, reference)


def _of_nodes(path: str, all_nodes: bool, driver: Driver) -> Iterator[Wanted]:
    from flatcar_gpu.cli.image.cluster import gpu_nodes
    from flatcar_gpu.kubernetes.nodes import read_nodes

    for group in gpu_nodes(read_nodes(path), all_nodes=all_nodes).groups:
        os_id, version_id = (group.os_id, group.version_id) if group.is_labelled else ("flatcar", group.release)
        reference = driver_image(driver, os_id, version_id, group.kernel).reference
        yield Wanted(group.release, group.kernel, group.architecture, reference, group.nodes)


def _table(wanted: Sequence[Wanted], lookups: Sequence[Lookup]) -> bytes:
    from flatcar_gpu.cli.releases.output import as_table

    rows = [
        [lookup.state, one.release, str(one.reference), lookup.digest, ",".join(lookup.platforms)]
        for one, lookup in zip(wanted, lookups, strict=True)
    ]
    return as_table(["STATE", "RELEASE", "IMAGE", "DIGEST", "PLATFORMS"], rows).encode()


def _json(wanted: Sequence[Wanted], lookups: Sequence[Lookup]) -> bytes:
    from flatcar_gpu.cli.image.output import lookup_data
    from flatcar_gpu.cli.releases.output import as_data

    images: list[Mapping[str, object]] = [
        {
            "release": one.release,
            "kernel": one.kernel,
            "architecture": one.architecture,
            "nodes": one.nodes or None,
            **lookup_data(one.reference, lookup),
        }
        for one, lookup in zip(wanted, lookups, strict=True)
    ]
    counts = Counter(str(lookup.state) for lookup in lookups)
    return as_data({"images": images, "summary": dict(sorted(counts.items()))}, "json").encode()


def _junit(wanted: Sequence[Wanted], lookups: Sequence[Lookup]) -> bytes:
    from flatcar_gpu.images.junit import junit_xml

    names = [f"Flatcar {one.release} {one.architecture}" for one in wanted]
    return junit_xml(list(zip(names, lookups, strict=True)))


_FORMS = {"table": _table, "json": _json, "junit": _junit}
