"""flatcar-gpu terraform"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from flatcar_gpu.cli import framework
from flatcar_gpu.cli.index_options import index_options
from flatcar_gpu.errors import Failure
from flatcar_gpu.files import read_input, write_output

if TYPE_CHECKING:
    from flatcar_gpu.cli.console import Console
    from flatcar_gpu.flatcar.access import Access


@framework.command()
@index_options
@click.pass_obj
def command(console: Console, access: Access) -> None:
    """Answer a query of Terraform's `external` data source: a JSON object of texts on stdin, one on stdout.

    \b
    data "external" "gpu_node" {
      program = ["flatcar-gpu", "terraform"]
      query   = { spec = jsonencode(var.spec), flatcar = "4593.2.5" }
    }

    Keys are `spec` (JSON of a spec), the options of `flatcar-gpu values` with underscores, `snippets` (JSON list of
    your own configs), `pool`, `ignore`, `strict`, `shrink`, `index_url`, `offline` and `timeout`.
    """
    from flatcar_gpu.terraform import answer, answer_text, error_lines  # late: it brings almost everything

    console.color = "never"
    try:
        if sys.stdin.isatty():
            raise Failure(
                "stdin is a terminal, and Terraform's query was expected", hint="echo '{}' | flatcar-gpu terraform"
            )
        data = answer_text(answer(read_input("-")[1], access))
    except Failure as failure:
        if console.error_format == "json":
            raise
        # Terraform shows stderr as it is, below its own summary: a line each, without colour.
        for line in error_lines(failure):
            click.echo(line, err=True, color=False)
        raise click.exceptions.Exit(1) from None
    write_output("-", data)
