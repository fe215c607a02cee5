"""flatcar-gpu nvidia-drivers"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from flatcar_gpu.cli import framework
from flatcar_gpu.cli.node import checked_plan, operator_options
from flatcar_gpu.cli.options import check_option, output_option, strict_option
from flatcar_gpu.files import write_output
from flatcar_gpu.helm.driver_resources import DriverPool, resources_text
from flatcar_gpu.report import Report
from flatcar_gpu.rules.checks import check_operator

if TYPE_CHECKING:
    from collections.abc import Collection

    from flatcar_gpu.cli.console import Console
    from flatcar_gpu.cli.node import NodeArguments
    from flatcar_gpu.plan import Plan


def _check(plan: Plan, ignored: Collection[str]) -> Report:
    report = Report()
    if plan.driver_image is None:
        says = f"the operator brings no driver with {plan.strategy}, so there are no NVIDIADriver resources"
        report.error(says, path="driver.strategy", hint="use --driver container")
        return report
    return check_operator(plan, ignored)


@framework.command()
@operator_options
@output_option
@strict_option
@check_option
@click.pass_obj
def command(console: Console, node: NodeArguments, output: str, strict: bool, check: bool) -> None:
    """Write the NVIDIADriver resources of the nodes, for `flatcar-gpu values --nvidia-driver-crd`.

    The operator gives the nodes of each Flatcar release an image of their own then, so that a cluster can be updated
    node by node.

    \b
    flatcar-gpu nvidia-drivers --repository registry.example.com/nvidia --driver-version 570.195.03
    flatcar-gpu nvidia-drivers -f gpu-nodes.yaml | kubectl apply -f -
    """
    node = replace(node, values={**node.values, "operator.nvidiaDriverCRD": True})
    plan = checked_plan(node, console, strict=strict, check=_check)
    if plan.driver_image is None:
        raise RuntimeError("a plan without a driver image has passed the check")
    # A pinned image fits one release; a channel moves on to the next.
    is_pinned = plan.driver_image.digest is not None and plan.spec.flatcar == plan.release_name
    pool = DriverPool(
        "flatcar",
        plan.driver_image,
        release=plan.release_name if is_pinned else None,
        tolerations=plan.operator.tolerations,
    )
    if not check:
        write_output(output, resources_text([pool], "To apply once the chart is installed, which brings the CRD."))
