"""flatcar-gpu ignition"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from flatcar_gpu.cli import framework
from flatcar_gpu.cli.node import checked_node, conclude, node_options
from flatcar_gpu.cli.options import check_option, output_option, pretty_option, strict_option
from flatcar_gpu.cli.size import fitted, size_options
from flatcar_gpu.files import write_output
from flatcar_gpu.transpile import encode

if TYPE_CHECKING:
    from flatcar_gpu.cli.console import Console
    from flatcar_gpu.cli.node import NodeArguments


@framework.command()
@node_options
@size_options
@output_option
@pretty_option
@strict_option
@check_option
@click.pass_obj
def command(
    console: Console,
    node: NodeArguments,
    platform: str | None,
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
    flatcar-gpu ignition -f gpu-nodes.yaml --pretty
    """
    made = checked_node(node, console, strict=strict)
    data, sizes = fitted(encode(made.ignition, pretty), made.ignition, platform, shrink)
    conclude(sizes, {}, console, strict=strict)
    if not check:
        write_output(output, data)
