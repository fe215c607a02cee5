"""flatcar-gpu merge"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from flatcar_gpu.cli import framework
from flatcar_gpu.cli.node import conclude
from flatcar_gpu.cli.options import check_option, output_option, pretty_option, strict_option
from flatcar_gpu.cli.size import fitted, platform_option, shrink_option
from flatcar_gpu.cli.user_configs import local_file_options, read_configs
from flatcar_gpu.files import PRIVATE, write_output
from flatcar_gpu.report import Report
from flatcar_gpu.transpile import encode, join

if TYPE_CHECKING:
    from flatcar_gpu.cli.console import Console


@framework.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@local_file_options
@platform_option
@shrink_option
@output_option
@pretty_option
@strict_option
@check_option
@click.pass_obj
def command(
    console: Console,
    files: tuple[str, ...],
    files_dir: tuple[str, ...],
    follow_outside: bool,
    platform: str | None,
    shrink: bool,
    output: str,
    pretty: bool,
    strict: bool,
    check: bool,
) -> None:
    """Merge Butane and Ignition configs to one Ignition config, as Ignition itself does at boot.

    A later FILE changes what those before it say; lists are united by path, name or device.

    \b
    flatcar-gpu merge base.bu site.ign -o node.ign
    flatcar-gpu merge --files-dir base.bu:base --files-dir site.bu:site base.bu site.bu
    """
    configs = read_configs(files, files_dir, follow_outside=follow_outside)
    joined = join(configs.documents)
    data, sizes = fitted(encode(joined.config, pretty), joined.config, platform, shrink)
    found = [problem for document in configs.documents for problem in document.report]
    conclude(Report([*found, *joined.report, *sizes]), configs.texts, console, strict=strict)
    if not check:
        write_output(output, data, mode=PRIVATE)
