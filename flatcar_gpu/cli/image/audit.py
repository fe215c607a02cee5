"""flatcar-gpu image audit"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from flatcar_gpu.cli import framework
from flatcar_gpu.cli.image.audit_output import as_json, as_tables
from flatcar_gpu.cli.image.cluster import gpu_nodes
from flatcar_gpu.cli.image.options import (
    all_nodes_option,
    driver_options,
    look_up_all,
    may_be_asked,
    registry_options,
)
from flatcar_gpu.cli.index_options import index_options, open_index
from flatcar_gpu.cli.options import output_option
from flatcar_gpu.files import write_output
from flatcar_gpu.flatcar.index import CHANNELS
from flatcar_gpu.images.audit import pulls, successors
from flatcar_gpu.images.tags import Mode
from flatcar_gpu.kubernetes.image_audit import Audit, audit_findings, next_releases
from flatcar_gpu.kubernetes.nodes import nodes_of_cluster, read_nodes

if TYPE_CHECKING:
    from flatcar_gpu.cli.console import Console
    from flatcar_gpu.cli.image.options import RegistryArguments
    from flatcar_gpu.flatcar.access import Access
    from flatcar_gpu.images.tags import Driver


@framework.command()
@click.argument("nodes", required=False, metavar="[FILE]")
@driver_options
@click.option(
    "--mode",
    "audited",
    type=click.Choice(["both", *(mode.value for mode in Mode)]),
    default="both",
    help="How the operator is told about drivers.  [default: both]",
)
@click.option("--kubectl", is_flag=True, help="Let kubectl list the nodes, instead of reading them.")
@click.option("--context", metavar="NAME", help="Of kubectl's configuration; for --kubectl.")
@all_nodes_option
@click.option("--next", "with_next", is_flag=True, help="Say what changes with the channels' next releases.")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", help="Form of the output.")
@output_option
@registry_options
@index_options
@click.pass_obj
def command(
    console: Console,
    nodes: str | None,
    driver: Driver,
    audited: str,
    kubectl: bool,
    context: str | None,
    all_nodes: bool,
    with_next: bool,
    form: str,
    output: str,
    registry: RegistryArguments,
    access: Access,
) -> int:
    """Say which image each GPU node on Flatcar will pull, and which images are missing.

    FILE is what `kubectl get nodes -o json` prints, `-` being stdin. The nodes are grouped by release, kernel and
    architecture. With --offline no registry is asked. Exits with 1 where nodes cannot pull their image.

    \b
    kubectl get nodes -o json | flatcar-gpu image audit --driver-version 580.126.20 -
    flatcar-gpu image audit --driver-version 580.126.20 --kubectl --next
    """
    if kubectl == (nodes is not None):
        raise click.UsageError("Give either a FILE (`-` for stdin) or --kubectl.")
    if context and not kubectl:
        raise click.UsageError("--context goes with --kubectl.")
    listed = nodes_of_cluster(context) if kubectl else read_nodes(str(nodes))
    survey = gpu_nodes(listed, all_nodes=all_nodes)
    modes = tuple(Mode) if audited == "both" else (Mode(audited),)
    first = survey.first or survey.groups[0]
    planned = [pull for mode in modes for pull in pulls(driver, mode, survey.groups, first)]
    following = None
    if with_next:
        index = open_index(CHANNELS, access, console).index
        following = list(successors(driver, survey.groups, next_releases(survey, index)))
    wanted = dict.fromkeys(pull.reference for pull in planned if pull.reference)
    wanted |= dict.fromkeys(successor.image.reference for successor in following or ())
    asked = [reference for reference in wanted if may_be_asked(reference, access)]
    audit = Audit(driver, modes, survey, planned, following, look_up_all(asked, registry, access, console))
    report = audit_findings(audit)
    write_output(output, (as_json(audit, report) if form == "json" else as_tables(audit)).encode())
    console.report(report)
    return int(report.has_errors)
