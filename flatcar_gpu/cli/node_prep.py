"""flatcar-gpu node-prep"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from flatcar_gpu.cli import framework
from flatcar_gpu.cli.node import checked_node, node_options
from flatcar_gpu.cli.options import check_option, formed, output_option, strict_option
from flatcar_gpu.files import write_output
from flatcar_gpu.forms import OBJECT_NAME, Form
from flatcar_gpu.kubernetes.node_prep.manifests import (
    NAMESPACE,
    Options,
    apply_manifests,
    manifests_text,
    remove_manifests,
)
from flatcar_gpu.kubernetes.nvml.pattern import IMAGE, PINNED_IMAGE

if TYPE_CHECKING:
    from flatcar_gpu.cli.console import Console
    from flatcar_gpu.cli.node import NodeArguments

_APPLIES = "Prepares GPU nodes on Flatcar Container Linux that already run, as Ignition would have done."
_REMOVES = "Takes back what `flatcar-gpu node-prep` installed."

_LABEL = Form(
    r"([a-z0-9.-]+/)?[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?=[A-Za-z0-9._-]*", "a label of nodes such as gpu=yes"
)


@framework.command()
@node_options
@click.option(
    "--namespace",
    default=NAMESPACE,
    show_default=True,
    metavar="NAME",
    callback=formed(OBJECT_NAME),
    help="Namespace of the DaemonSet; it is made, or labelled, to admit privileged pods.",
)
@click.option(
    "--image",
    default=IMAGE,
    show_default=True,
    callback=formed(PINNED_IMAGE),
    help="Image with busybox, pinned by tag or digest: a mirror of the default where nodes have no internet.",
)
@click.option(
    "--node-selector",
    "node_selector",
    multiple=True,
    metavar="LABEL=VALUE",
    callback=formed(_LABEL),
    help="Nodes to prepare, instead of those that Node Feature Discovery labels as Flatcar with an NVIDIA device; "
    "repeat it for more labels.",
)
@click.option("--remove", is_flag=True, help="Write manifests that take back what was installed.")
@output_option
@strict_option
@check_option
@click.pass_obj
def command(
    console: Console,
    node: NodeArguments,
    namespace: str,
    image: str,
    node_selector: tuple[str, ...],
    remove: bool,
    output: str,
    strict: bool,
    check: bool,
) -> None:
    """Write manifests that prepare nodes which already run, without provisioning them anew.

    A DaemonSet installs on each GPU node the files and units that `ignition` would, with the same options.

    \b
    flatcar-gpu node-prep | kubectl apply -f -
    flatcar-gpu node-prep --node-selector pool=gpu -o node-prep.yaml
    flatcar-gpu node-prep --remove | kubectl apply -f -
    """
    made = checked_node(node, console, strict=strict)
    options = Options(
        namespace=namespace,
        image=image,
        node_selector=dict(label.split("=", 1) for label in node_selector) or None,
        tolerations=made.plan.operator.tolerations,
    )
    manifests = remove_manifests(options) if remove else apply_manifests(made.butane, options)
    if not check:
        write_output(output, manifests_text(manifests, _REMOVES if remove else _APPLIES))
