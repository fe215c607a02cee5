"""flatcar-gpu validate"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from flatcar_gpu.cli import framework
from flatcar_gpu.cli.options import strict_option
from flatcar_gpu.errors import Failure, InvalidInput
from flatcar_gpu.files import read_input
from flatcar_gpu.report import Report
from flatcar_gpu.transpile import read_document

if TYPE_CHECKING:
    from flatcar_gpu.cli.console import Console


@framework.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@strict_option
@click.option("-d", "--files-dir", metavar="DIR", help="Folder that local files and trees of Butane are read from.")
@click.option("--follow-outside/--no-follow-outside", default=True, help="Follow links that leave the files directory.")
@click.pass_obj
def command(
    console: Console, files: tuple[str, ...], strict: bool, files_dir: str | None, follow_outside: bool
) -> None:
    """Check Butane configs (.bu, .yaml, .yml) and Ignition configs (.ign, .json).

    FILE `-` is stdin. Ignition 3.3.0, 3.4.0 and 3.7.0-experimental are checked by all of Ignition's rules, other 3.x
    versions by their structure and the rules that all of them share; -v says which.

    \b
    flatcar-gpu validate node.bu node.ign
    flatcar-gpu validate --strict --files-dir files node.bu
    """
    report = Report()
    sources: dict[str, str] = {}
    for file in files:
        try:
            name, source = read_input(file)
        except Failure as failure:
            report.error(failure.message, hint=failure.hint)
            continue
        sources[name] = source.decode(errors="replace")
        document = read_document(name, source, files_dir=files_dir, follow_outside=follow_outside)
        report.extend(document.report)
        if (validation := document.validation) and validation.rules:
            console.note(f"{name}: {validation.rules}", level=1 if validation.all_rules else 0)
    if report.has_errors or (strict and report.warning_count):
        raise InvalidInput(report, sources)
    console.report(report, sources)
