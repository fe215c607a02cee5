"""flatcar-gpu values"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from flatcar_gpu.cli import framework
from flatcar_gpu.cli.image.options import registry_options
from flatcar_gpu.cli.node import checked_plan, operator_options
from flatcar_gpu.cli.options import check_option, output_option, strict_option
from flatcar_gpu.files import write_output
from flatcar_gpu.helm.operator_values import values_text
from flatcar_gpu.rules.checks import check_operator

if TYPE_CHECKING:
    from flatcar_gpu.cli.console import Console
    from flatcar_gpu.cli.image.options import RegistryArguments
    from flatcar_gpu.cli.node import NodeArguments


@framework.command()
@operator_options
@click.option(
    "--pin-digest",
    is_flag=True,
    help="Ask the registry for the image of --flatcar and pin its digest.",
)
@click.option("--check-image", is_flag=True, help="Ask the registry for the image of --flatcar, fail if it is missing.")
@registry_options
@output_option
@strict_option
@check_option
@click.pass_obj
def command(
    console: Console,
    node: NodeArguments,
    pin_digest: bool,
    check_image: bool,
    registry: RegistryArguments,
    output: str,
    strict: bool,
    check: bool,
) -> None:
    """Write the gpu-operator's Helm values for the nodes that `ignition` makes.

    \b
    flatcar-gpu values --driver sysext -o values.yaml
    flatcar-gpu values --repository registry.example.com/nvidia --driver-version 570.195.03
    flatcar-gpu values -f gpu-nodes.yaml --chart-version v25.10.1
    """
    plan = checked_plan(node, console, strict=strict, check=check_operator)
    if pin_digest or check_image:
        from flatcar_gpu.cli.node_image import digest_in_registry, pinned  # late: a registry client comes with it

        digest = digest_in_registry(plan, registry, node, console)
        if pin_digest:
            plan = checked_plan(pinned(node, digest), console, strict=strict, check=check_operator)
    if not check:
        write_output(output, values_text(plan))
