"""flatcar-gpu transpile"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from flatcar_gpu.cli import framework
from flatcar_gpu.cli.options import check_option, output_option, pretty_option, strict_option
from flatcar_gpu.errors import InvalidInput
from flatcar_gpu.files import PRIVATE, read_input, write_output
from flatcar_gpu.transpile import Result, raw_report, transpile

if TYPE_CHECKING:
    from flatcar_gpu.cli.console import Console


@framework.command()
@click.argument("file", default="-", required=False)
@output_option
@pretty_option
@strict_option
@check_option
@click.option("-d", "--files-dir", metavar="DIR", help="Folder that local files and trees are read from.")
@click.option("--follow-outside/--no-follow-outside", default=True, help="Follow links that leave the files directory.")
@click.option(
    "-r",
    "--raw",
    is_flag=True,
    hidden=True,
    expose_value=False,
    help="Accepted as butane does; without effect for flatcar.",
)
@click.option("--raw-errors", is_flag=True, help="Report as `butane --raw-errors` prints it.")
@click.pass_obj
def command(
    console: Console,
    file: str,
    output: str,
    pretty: bool,
    strict: bool,
    check: bool,
    files_dir: str | None,
    follow_outside: bool,
    raw_errors: bool,
) -> None:
    """Translate a Butane config of the variant flatcar to Ignition, as butane does.

    FILE `-`, or none, is stdin.

    \b
    flatcar-gpu transpile node.bu -o node.ign
    flatcar-gpu transpile --strict --files-dir files < node.bu
    flatcar-gpu transpile --check node.bu
    """
    if file == "-" and sys.stdin.isatty():
        raise click.UsageError("Name a file, or pipe a config into it.")
    name, source = read_input(file)
    result = transpile(source, files_dir=files_dir, pretty=pretty, follow_outside=follow_outside)
    if raw_errors:
        _raw(result, strict=strict)
    else:
        _report(result, name, source, console, strict=strict)
    if not check and result.ignition is not None:
        # A config may hold password hashes and keys.
        write_output(output, result.ignition, mode=PRIVATE)


def _raw(result: Result, *, strict: bool) -> None:
    sys.stderr.buffer.write(raw_report(result, strict=strict).encode(errors="surrogateescape"))
    sys.stderr.flush()
    if result.failure or (strict and len(result.report)):
        raise click.exceptions.Exit(1)


def _report(result: Result, name: str, source: bytes, console: Console, *, strict: bool) -> None:
    findings = result.findings.in_file(name)
    sources = {name: source.decode(errors="replace")}
    if result.failure or (strict and len(result.report)):
        raise InvalidInput(findings, sources)
    console.report(findings, sources)
