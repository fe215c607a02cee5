"""flatcar-gpu validate"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from flatcar_gpu.cli import framework
from flatcar_gpu.cli.node import conclude
from flatcar_gpu.cli.options import strict_option
from flatcar_gpu.cli.user_configs import local_file_options, read_all

if TYPE_CHECKING:
    from flatcar_gpu.cli.console import Console


@framework.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@strict_option
@local_file_options
@click.pass_obj
def command(
    console: Console, files: tuple[str, ...], strict: bool, files_dir: tuple[str, ...], follow_outside: bool
) -> None:
    """Check Butane configs (.bu, .yaml, .yml) and Ignition configs (.ign, .json).

    FILE `-` is stdin. Ignition 3.3.0, 3.4.0 and 3.7.0-experimental are checked by all of Ignition's rules, other 3.x
    versions by their structure and the rules that all of them share; -v says which.

    \b
    flatcar-gpu validate node.bu node.ign
    flatcar-gpu validate --strict --files-dir files node.bu
    """
    configs, report = read_all(files, files_dir, follow_outside=follow_outside)
    for document in configs.documents:
        if (validation := document.validation) and validation.rules:
            console.note(f"{document.name}: {validation.rules}", level=1 if validation.all_rules else 0)
    conclude(report, configs.texts, console, strict=strict)
