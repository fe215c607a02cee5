"""flatcar-gpu doctor"""

from __future__ import annotations

import shlex
import subprocess
from typing import TYPE_CHECKING

import click

from flatcar_gpu.cli import framework
from flatcar_gpu.cli.framework import ENVIRONMENT_PREFIX
from flatcar_gpu.cli.node import checked_plan, operator_options
from flatcar_gpu.cli.options import formed, output_option, strict_option
from flatcar_gpu.doctor.inspection import Inspection, summary
from flatcar_gpu.doctor.observed import collecting_script, parse_observed
from flatcar_gpu.errors import Failure
from flatcar_gpu.files import read_input, write_output
from flatcar_gpu.kubernetes.nvml.pattern import IMAGE, PINNED_IMAGE
from flatcar_gpu.rules import Subject, check
from flatcar_gpu.spec import OBJECT_NAME

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

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
        write_output(output, collecting_script().encode())
    elif node_name and not kubectl:
        write_output(output, f"{_shown_debug_command(node_name, debug_image)} | flatcar-gpu doctor -\n".encode())
    else:
        name, text = _collected(collected, root, node_name or "", debug_image)
        observed = parse_observed(text, name)

        def examined(plan: Plan, ignored: Collection[str]) -> Report:
            inspection = Inspection(plan, observed)
            write_output(output, summary(inspection).encode())
            return check(inspection, ignored, Subject.LIVE_NODE).in_file(name)

        checked_plan(node, console, strict=strict, check=examined)


def _collected(collected: str | None, root: str | None, node: str, image: str) -> tuple[str, str]:
    """A name for what was looked at, and what the script printed there."""
    if collected:
        name, data = read_input(collected)
        return name, data.decode(errors="replace")
    if root:
        return root, _run(["/bin/sh", "-c", collecting_script(), "sh", root])
    return node, _run(_debug_command(node, image))


def _run(command: Sequence[str]) -> str:
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, errors="replace")
    except FileNotFoundError:
        raise Failure(f"{command[0]} is not on the path", hint="leave --kubectl out to see the command") from None
    if done.returncode:
        raise Failure(f"{command[0]} exits with {done.returncode}", hint="what it says is above")
    return done.stdout


def _debug_command(node: str, image: str) -> list[str]:
    """The pod shares the node's processes and has its root folder at /host; sysadmin makes it privileged."""
    options = ["--attach", "--quiet", f"--image={image}", "--profile=sysadmin"]
    return ["kubectl", "debug", f"node/{node}", *options, "--", "sh", "-c", collecting_script(), "sh", "/host"]


def _shown_debug_command(node: str, image: str) -> str:
    words = [shlex.quote(word) for word in _debug_command(node, image)]
    words[words.index(shlex.quote(collecting_script()))] = '"$(flatcar-gpu doctor --collect-script)"'
    return " ".join(words)
