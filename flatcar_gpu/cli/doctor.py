"""flatcar-gpu doctor"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from flatcar_gpu.cli import framework
from flatcar_gpu.cli.framework import ENVIRONMENT_PREFIX
from flatcar_gpu.cli.node import checked_plan, operator_options
from flatcar_gpu.cli.options import formed, output_option, strict_option
from flatcar_gpu.doctor import collection
from flatcar_gpu.doctor.inspection import Inspection, summary
from flatcar_gpu.doctor.observed import parse_observed
from flatcar_gpu.files import read_input, write_output
from flatcar_gpu.forms import OBJECT_NAME
from flatcar_gpu.kubernetes.nvml.pattern import IMAGE, PINNED_IMAGE
from flatcar_gpu.rules import Subject, check

if TYPE_CHECKING:
    from collections.abc import Collection

    from flatcar_gpu.cli.console import Console
    from flatcar_gpu.cli.node import NodeArguments
    from flatcar_gpu.plan import Plan
    from flatcar_gpu.report import Report


@framework.command()
@click.argument("collected", required=False, metavar="[FILE|-]")
@click.option("--root", metavar="DIR", help="Look at the node whose root folder is mounted there, e.g. /host in a pod.")
@click.option(
    "--node",
    "node_name",
    envvar=f"{ENVIRONMENT_PREFIX}NODE",
    metavar="NAME",
    callback=formed(OBJECT_NAME),
    help="Write the command that looks at this node of the cluster through a debugging pod.",
)
@click.option("--kubectl", is_flag=True, help="Run that command instead, with the kubectl on the path.")
@click.option(
    "--debug-image",
    default=IMAGE,
    show_default=True,
    callback=formed(PINNED_IMAGE),
    help="Image of the debugging pod, with busybox.",
)
@click.option("--collect-script", is_flag=True, help="Write the script that collects what FILE has, to run on a node.")
@operator_options
@output_option
@strict_option
@click.pass_obj
def command(
    console: Console,
    node: NodeArguments,
    collected: str | None,
    root: str | None,
    node_name: str | None,
    kubectl: bool,
    debug_image: str,
    collect_script: bool,
    output: str,
    strict: bool,
) -> None:
    """Check a node that runs: is it what the same options of `ignition` and `values` ask for?

    FILE or stdin has what the collecting script printed on the node. It holds no passwords.

    \b
    flatcar-gpu doctor --node gpu-1 --kubectl
    flatcar-gpu doctor --root /host --driver sysext
    flatcar-gpu doctor --collect-script | ssh core@gpu-1 sudo sh -s / | flatcar-gpu doctor -
    """
    ways = {"FILE": collected, "--root": root, "--node": node_name, "--collect-script": collect_script}
    if sum(bool(way) for way in ways.values()) != 1:
        raise click.UsageError(f"Give one of {', '.join(ways)}.")
    if kubectl and not node_name:
        raise click.UsageError("--kubectl goes with --node.")
    if collect_script:
        write_output(output, collection.script().encode())
        return
    if node_name and not kubectl:
        line = f"{collection.shown_debug_command(node_name, debug_image)} | flatcar-gpu doctor -\n"
        write_output(output, line.encode())
        return
    if collected:
        name, data = read_input(collected)
        text = data.decode(errors="replace")
    elif root:
        name, text = root, collection.at_root(root)
    else:
        name, text = node_name or "", collection.in_pod(node_name or "", debug_image)
    observed = parse_observed(text, name)

    def examined(plan: Plan, ignored: Collection[str]) -> Report:
        inspection = Inspection(plan, observed)
        write_output(output, summary(inspection).encode())
        return check(inspection, ignored, Subject.LIVE_NODE).in_file(name)

    checked_plan(node, console, strict=strict, check=examined)
