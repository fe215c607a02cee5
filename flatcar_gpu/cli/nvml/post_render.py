"""flatcar-gpu nvml post-render"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from flatcar_gpu.cli import framework
from flatcar_gpu.cli.node import conclude
from flatcar_gpu.cli.nvml.options import pattern_options, selector_options
from flatcar_gpu.cli.options import output_option, strict_option
from flatcar_gpu.files import read_input, write_output
from flatcar_gpu.kubernetes.nvml.post_render import post_render

if TYPE_CHECKING:
    from flatcar_gpu.cli.console import Console
    from flatcar_gpu.kubernetes.nvml.pattern import Options
    from flatcar_gpu.kubernetes.nvml.selection import Selector


@framework.command()
@click.argument("manifests", default="-", metavar="[FILE]")
@selector_options
@pattern_options
@output_option
@strict_option
@click.pass_obj
def command(console: Console, manifests: str, selector: Selector, pattern: Options, output: str, strict: bool) -> None:
    """Add NVML to one workload in the manifests of FILE or stdin; the rest stays byte for byte.

    A second pass changes nothing. Helm 3 takes a program as --post-renderer, Helm 4 a plugin: `flatcar-gpu nvml
    helm-plugin` writes both.

    \b
    helm template kepler CHART | flatcar-gpu nvml post-render --name kepler
    flatcar-gpu nvml post-render agent.yaml --name agent --container agent --wait 600 --gpu-nodes-only
    """
    if manifests == "-" and sys.stdin.isatty():
        raise click.UsageError("Give the manifests as FILE or on stdin.")
    name, data = read_input(manifests)
    result, report = post_render(data, name, selector, pattern)
    conclude(report, {}, console, strict=strict)
    write_output(output, result)
