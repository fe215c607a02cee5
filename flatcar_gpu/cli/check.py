"""flatcar-gpu check"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from flatcar_gpu.cli import framework
from flatcar_gpu.cli.node import checked_node, node_options
from flatcar_gpu.cli.options import strict_option
from flatcar_gpu.cli.user_configs import merge_options
from flatcar_gpu.errors import Failure
from flatcar_gpu.spec_file import load_spec

if TYPE_CHECKING:
    from flatcar_gpu.cli.console import Console
    from flatcar_gpu.cli.node import NodeArguments
    from flatcar_gpu.cli.user_configs import UserConfigs


@framework.command()
@click.argument("specs", nargs=-1, metavar="[SPEC...]")
@node_options
@merge_options
@strict_option
@click.pass_obj
def command(
    console: Console, node: NodeArguments, specs: tuple[str, ...], configs: UserConfigs, strict: bool
) -> int | None:
    """Check GPU nodes against every compatibility rule, and write nothing.

    Of a spec with pools all pools are checked, and the operator that they share, unless --pool names one. Several
    specs are checked one by one, each with the same flags.

    \b
    flatcar-gpu check gpu-nodes.yaml
    flatcar-gpu check gpu-nodes.yaml --flatcar 4593.2.5 --merge users.bu --strict
    """
    files = [node.file, *specs] if node.file or not specs else specs
    failed = False
    with console.one_report():
        for file in files:
            try:
                _check(console, replace(node, file=file), configs, strict=strict)
            except Failure as failure:
                console.failure(failure)
                failed = True
    return 1 if failed else None


def _check(console: Console, node: NodeArguments, configs: UserConfigs, *, strict: bool) -> None:
    loaded = load_spec(node.file, node.values)
    if loaded.pools and node.pool is None and not configs:
        from flatcar_gpu.cli.fleet import checked_fleet  # late: it brings the operator's values along

        checked_fleet(loaded, node, console, strict=strict)
    else:
        checked_node(node, console, strict=strict, configs=configs, loaded=loaded)
