"""flatcar-gpu nvml patch"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from flatcar_gpu.cli import framework
from flatcar_gpu.cli.node import conclude
from flatcar_gpu.cli.nvml.options import pattern_options, selector_options
from flatcar_gpu.cli.options import output_option, strict_option
from flatcar_gpu.files import read_input, write_output
from flatcar_gpu.kubernetes.nvml.kustomize import (
    kustomization_text,
    patch_for_target,
    patch_text,
    patch_without_target,
)

if TYPE_CHECKING:
    from flatcar_gpu.cli.console import Console
    from flatcar_gpu.kubernetes.nvml.pattern import Options
    from flatcar_gpu.kubernetes.nvml.selection import Selector


@framework.command()
@click.option(
    "--target",
    metavar="FILE",
    help="Manifests with the workload (`-` is stdin): names are checked, and lists joined with what is there.",
)
@click.option("--kustomization", is_flag=True, help="Write a kustomization with the patch instead of the patch.")
@selector_options
@pattern_options
@output_option
@strict_option
@click.pass_obj
def command(
    console: Console,
    target: str | None,
    kustomization: bool,
    selector: Selector,
    pattern: Options,
    output: str,
    strict: bool,
) -> None:
    """Write a strategic-merge patch that adds NVML to a workload, a DaemonSet unless --kind or --target says otherwise.

    \b
    flatcar-gpu nvml patch --target daemonset.yaml --name agent -o nvml-patch.yaml
    flatcar-gpu nvml patch --target daemonset.yaml --name agent --kustomization -o kustomization.yaml
    flatcar-gpu nvml patch --name kepler --namespace kepler
    """
    if target is None:
        patch, report = patch_without_target(selector, pattern)
    else:
        file, data = read_input(target)
        patch, report = patch_for_target(data, file, selector, pattern)
    text = patch_text(patch)
    if kustomization:
        resources = _resources(target, output)
        text = kustomization_text(patch, resources)
        if not resources:
            report.warning(
                "the kustomization names no resources: kustomize takes only files in its folder or below",
                hint="add the manifests that have the workload",
            )
    conclude(report, {}, console, strict=strict)
    write_output(output, text.encode())


def _resources(target: str | None, output: str) -> list[str]:
    """The target as seen from the kustomization; kustomize reads only what is in its folder or below."""
    if target is None or target == "-":
        return []
    folder = Path.cwd() if output == "-" else Path(output).resolve().parent
    file = Path(target).resolve()
    return [str(file.relative_to(folder))] if file.is_relative_to(folder) else []
