"""flatcar-gpu check"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from flatcar_gpu.cli import framework
from flatcar_gpu.cli.node import checked_node, node_options
from flatcar_gpu.cli.options import strict_option
from flatcar_gpu.cli.user_configs import merge_options
from flatcar_gpu.spec_file import load_spec

if TYPE_CHECKING:
    from flatcar_gpu.cli.console import Console
    from flatcar_gpu.cli.node import NodeArguments
    from flatcar_gpu.cli.user_configs import UserConfigs


@framework.command()
@node_options
@merge_options
@strict_option
@click.pass_obj
def command(console: Console, node: NodeArguments, configs: UserConfigs, strict: bool) -> None:
    """Check GPU nodes against every compatibility rule, and write nothing.

    Of a spec with pools all pools are checked, and the operator that they share, unless --pool names one.

    \b
    flatcar-gpu check -f gpu-nodes.yaml
    flatcar-gpu check -f gpu-nodes.yaml --flatcar 4593.2.5 --merge users.bu --strict
    """
    loaded = load_spec(node.file, node.values)
    if loaded.pools and node.pool is None and not configs:
        from flatcar_gpu.cli.fleet import checked_fleet  # late: it brings the operator's values along

        checked_fleet(loaded, node, console, strict=strict)
    else:
        checked_node(node, console, strict=strict, configs=configs, loaded=loaded)
