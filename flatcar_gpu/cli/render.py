"""flatcar-gpu render"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from flatcar_gpu.cli import framework
from flatcar_gpu.cli.fleet import checked_fleet
from flatcar_gpu.cli.node import all_options, conclude
from flatcar_gpu.cli.options import strict_option
from flatcar_gpu.errors import Failure
from flatcar_gpu.output_tree import OutputTree
from flatcar_gpu.render import render
from flatcar_gpu.spec_file import load_spec

if TYPE_CHECKING:
    from flatcar_gpu.cli.console import Console
    from flatcar_gpu.cli.node import NodeArguments


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
    checked = checked_fleet(loaded, node, console, strict=strict)
    rendered = render(checked.fleet, loaded.spec, checked.nodes)
    conclude(rendered.report, loaded.source.sources, console, strict=strict)
    tree = OutputTree.read(output)
    changes = tree.changes(rendered.files)
    if diff:
        click.echo(tree.diff(rendered.files), nl=False)
        return
    for line in changes:
        console.note(line, level=0)
    if check:
        if changes:
            raise Failure(f"the files in {output} are not those of the spec", hint="render without --check")
        return
    if changes:
        tree.replace(rendered.files)
    console.note(f"{changes.unchanged} files unchanged")
