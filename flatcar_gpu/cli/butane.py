"""flatcar-gpu butane"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from flatcar_gpu.cli import framework
from flatcar_gpu.cli.node import checked_node, node_options
from flatcar_gpu.cli.options import check_option, output_option, strict_option
from flatcar_gpu.files import write_output
from flatcar_gpu.node.yaml_text import butane_text

if TYPE_CHECKING:
    from flatcar_gpu.cli.console import Console
    from flatcar_gpu.cli.node import NodeArguments


@framework.command()
@node_options
@click.option(
    "--snippets",
    metavar="DIR",
    help="Write a config for each concern into the folder DIR, replaced as a whole or not at all, instead of one.",
)
@output_option
@strict_option
@check_option
@click.pass_obj
def command(
    console: Console, node: NodeArguments, snippets: str | None, output: str, strict: bool, check: bool
) -> None:
    """Write the Butane config of a GPU node, to read, to edit or to merge with your own.

    \b
    flatcar-gpu butane
    flatcar-gpu butane --driver service --driver-version 570.195.03
    flatcar-gpu butane -f gpu-nodes.yaml -o node.bu
    flatcar-gpu butane -f gpu-nodes.yaml --snippets snippets
    """
    if snippets is not None and output != "-":
        raise click.UsageError("--snippets writes a folder and --output a file: give one of them.")
    made = checked_node(node, console, strict=strict)
    if check:
        return
    if snippets is not None:
        # Late: most runs write one config.
        from flatcar_gpu.node.snippets import of_plan
        from flatcar_gpu.output_tree import OutputTree

        OutputTree.read(snippets).replace(dict(of_plan(made.plan)))
    else:
        write_output(output, butane_text(made.butane))
