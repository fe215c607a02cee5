"""flatcar-gpu render"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from flatcar_gpu.cli import framework
from flatcar_gpu.cli.index_options import find_release
from flatcar_gpu.cli.node import all_options, conclude
from flatcar_gpu.cli.options import strict_option
from flatcar_gpu.fleet import plan_fleet
from flatcar_gpu.output_tree import OutputTree
from flatcar_gpu.render import assemble_pools, render
from flatcar_gpu.report import Report
from flatcar_gpu.rules.checks import check_fleet
from flatcar_gpu.spec_file import load_spec

if TYPE_CHECKING:
    from flatcar_gpu.cli.console import Console
    from flatcar_gpu.cli.node import NodeArguments
    from flatcar_gpu.flatcar.index import Release


@framework.command()
@all_options
@click.option(
    "-o", "--output", required=True, metavar="DIR", help="Folder for the files; replaced as a whole or not at all."
)
@click.option("--diff", is_flag=True, help="Print what would change in DIR, write nothing.")
@click.option("-c", "--check", is_flag=True, help="Fail if anything would change in DIR, write nothing.")
@strict_option
@click.pass_obj
def command(console: Console, node: NodeArguments, output: str, diff: bool, check: bool, strict: bool) -> None:
    """Write everything that a spec describes: each pool's node, the operator's values, drivers, monitoring.

    \b
    flatcar-gpu init > gpu.yaml
    flatcar-gpu render -f gpu.yaml -o rendered
    flatcar-gpu render -f gpu.yaml -o rendered --check
    """
    if node.file is None:
        raise click.UsageError("Name the spec with -f/--file; `flatcar-gpu init` writes one to start from.")
    loaded = load_spec(node.file, node.values)
    fleet = plan_fleet(loaded, partial(_release, node=node, console=console))
    nodes = assemble_pools(fleet)
    rendered = render(fleet, loaded.spec, nodes)
    found = check_fleet(fleet, nodes, loaded, node.ignored)
    conclude(Report([*found, *rendered.report]), loaded.source.sources, console, strict=strict)
    tree = OutputTree.read(output)
    changes = tree.changes(rendered.files)
    if diff:
        click.echo(tree.diff(rendered.files), nl=False)
        return
    for line in changes:
        click.echo(line, err=True)
    if check:
        if changes:
            raise click.exceptions.Exit(1)
        return
    if changes:
        tree.replace(rendered.files)
    console.note(f"{changes.unchanged} files unchanged")


def _release(name: str, *, node: NodeArguments, console: Console) -> Release:
    return find_release(name, node.access, console).release
