"""flatcar-gpu nvml kepler-values"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from flatcar_gpu.cli import framework
from flatcar_gpu.cli.node import conclude
from flatcar_gpu.cli.nvml.options import pattern_options
from flatcar_gpu.cli.options import output_option, strict_option
from flatcar_gpu.files import read_input, write_output
from flatcar_gpu.kubernetes.nvml import kepler
from flatcar_gpu.report import Report

if TYPE_CHECKING:
    from flatcar_gpu.cli.console import Console
    from flatcar_gpu.kubernetes.nvml.pattern import Options


@framework.command()
@click.option(
    "--chart-has-nvml",
    type=click.Choice([str(answer) for answer in kepler.ChartHasNvml]),
    default="auto",
    show_default=True,
    help="Whether the chart copies NVML itself; auto looks at --chart-values.",
)
@click.option(
    "--chart-values",
    metavar="FILE",
    help="What `helm show values` or, with GPU metrics on, `helm template` prints for the chart; `-` is stdin.",
)
@click.option("--gpu/--no-gpu", default=True, help="GPU metrics on, or off and nothing else.")
@pattern_options
@output_option
@strict_option
@click.pass_obj
def command(
    console: Console,
    chart_has_nvml: str,
    chart_values: str | None,
    gpu: bool,
    pattern: Options,
    output: str,
    strict: bool,
) -> None:
    """Write values for Kepler's Helm chart, and say what values alone cannot do.

    \b
    helm show values CHART | flatcar-gpu nvml kepler-values --chart-values - -o gpu-values.yaml
    flatcar-gpu nvml kepler-values --chart-has-nvml yes --driver-root sysext
    """
    notes = Report()
    file, chart = read_input(chart_values) if chart_values else ("", b"")
    if chart_has_nvml != kepler.ChartHasNvml.AUTO:
        has_nvml = chart_has_nvml == kepler.ChartHasNvml.YES
    elif chart_values:
        has_nvml = kepler.chart_has_nvml(chart, file)
    else:
        has_nvml = False
        if gpu:
            notes.warning(
                "whether the chart copies NVML itself is not known and taken as no: no release up to v0.11.4 does",
                hint="give the chart's values with --chart-values, or --chart-has-nvml yes",
            )
    present = kepler.chart_values(chart, file)
    values, report = kepler.kepler_values(pattern, has_nvml=has_nvml, gpu=gpu, present=present)
    conclude(Report([*notes, *report]), {}, console, strict=strict)
    write_output(output, kepler.values_text(values, report).encode())
