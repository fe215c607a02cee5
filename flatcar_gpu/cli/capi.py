"""flatcar-gpu capi"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from flatcar_gpu.cli import framework
from flatcar_gpu.cli.node import checked_node, conclude, node_options
from flatcar_gpu.cli.options import check_option, output_option, strict_option
from flatcar_gpu.files import write_output
from flatcar_gpu.forms import OBJECT_NAME
from flatcar_gpu.kubernetes.capi import ApiVersion, additional_config, image_builder_variables, template_patch
from flatcar_gpu.report import Report

if TYPE_CHECKING:
    from flatcar_gpu.cli.console import Console
    from flatcar_gpu.cli.node import NodeArguments


def _object_name(ctx: click.Context, parameter: click.Parameter, value: str) -> str:
    if not OBJECT_NAME.fits(value):
        raise click.BadParameter(f"{value!r} is not {OBJECT_NAME.expected}", ctx, parameter)
    return value


@framework.command()
@node_options
@click.option(
    "--format",
    "form",
    type=click.Choice(["patch", "clc", "image-builder"]),
    default="patch",
    help="A patch of a KubeadmConfigTemplate, the text for additionalConfig alone (Container Linux Config), or "
    "variables for image-builder (JSON).  [default: patch]",
)
@click.option(
    "--name",
    default="gpu-nodes",
    metavar="NAME",
    callback=_object_name,
    help="Name of the KubeadmConfigTemplate.  [default: gpu-nodes]",
)
@click.option(
    "--api-version",
    type=click.Choice([str(version) for version in ApiVersion]),
    default=str(ApiVersion.V1BETA2),
    help="Version of Cluster API's bootstrap API.  [default: v1beta2]",
)
@output_option
@strict_option
@check_option
@click.pass_obj
def command(
    console: Console,
    node: NodeArguments,
    form: str,
    name: str,
    api_version: str,
    output: str,
    strict: bool,
    check: bool,
) -> None:
    """Write a GPU node for Cluster API.

    \b
    flatcar-gpu capi --driver container --name my-cluster-gpu -o gpu-patch.yaml
    flatcar-gpu capi --format clc
    flatcar-gpu capi --driver sysext --format image-builder -o gpu-vars.json
    """
    made = checked_node(node, console, strict=strict)
    report = Report()
    if form == "image-builder":
        data = image_builder_variables(made.plan, report)
    elif form == "clc":
        data = additional_config(made.butane).encode()
    else:
        data = template_patch(made.butane, name, ApiVersion(api_version))
    conclude(report, {}, console, strict=strict)
    if not check:
        write_output(output, data)
