"""flatcar-gpu ignition"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from flatcar_gpu.cli import framework
from flatcar_gpu.cli.node import checked_node, conclude, node_options
from flatcar_gpu.cli.options import check_option, output_option, pretty_option, strict_option
from flatcar_gpu.cli.size import fitted, shrink_option
from flatcar_gpu.cli.user_configs import merge_options
from flatcar_gpu.files import PRIVATE, PUBLIC, write_output
from flatcar_gpu.transpile import encode

if TYPE_CHECKING:
    from flatcar_gpu.cli.console import Console
    from flatcar_gpu.cli.node import NodeArguments
    from flatcar_gpu.cli.user_configs import UserConfigs


@framework.command()
@node_options
@merge_options
@shrink_option
@output_option
@pretty_option
@strict_option
@check_option
@click.pass_obj
def command(
    console: Console,
    node: NodeArguments,
    configs: UserConfigs,
    shrink: bool,
    output: str,
    pretty: bool,
    strict: bool,
    check: bool,
) -> None:
    """Write the Ignition config of a GPU node.

    \b
    flatcar-gpu ignition -o node.ign
    flatcar-gpu ignition --driver sysext --driver-sysext nvidia-drivers-570-open
    flatcar-gpu ignition --toolkit-install-dir /opt/nvidia --hold-updates
    flatcar-gpu ignition -f gpu-nodes.yaml --merge users.bu --platform aws
    """
    made = checked_node(node, console, strict=strict, configs=configs)
    data, sizes = fitted(encode(made.ignition, pretty), made.ignition, made.plan.spec.platform, shrink)
    conclude(sizes, {}, console, strict=strict)
    if not check:
        # A user's config may hold password hashes and keys; what the tool makes by itself holds none.
        write_output(output, data, mode=PRIVATE if configs else PUBLIC)
