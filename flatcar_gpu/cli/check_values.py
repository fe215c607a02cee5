"""flatcar-gpu check-values"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from flatcar_gpu.chart import NEWEST, ChartVersion
from flatcar_gpu.cli import framework
from flatcar_gpu.cli.node import conclude, ignore_option
from flatcar_gpu.cli.options import strict_option
from flatcar_gpu.files import read_input
from flatcar_gpu.forms import CHART_VERSION
from flatcar_gpu.report import Report
from flatcar_gpu.rules.checks import check_values
from flatcar_gpu.yaml_positions import YamlDocument

if TYPE_CHECKING:
    from flatcar_gpu.cli.console import Console


def _chart(ctx: click.Context, parameter: click.Parameter, value: str) -> ChartVersion:
    if not CHART_VERSION.fits(value):
        raise click.BadParameter(f"{value!r} is not {CHART_VERSION.expected}", ctx, parameter)
    return ChartVersion.parse(value)


@framework.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--chart-version",
    default=str(NEWEST),
    metavar="VERSION",
    callback=_chart,
    help=f"Version of the gpu-operator chart.  [default: {NEWEST}]",
)
@ignore_option
@strict_option
@click.pass_obj
def command(
    console: Console, files: tuple[str, ...], chart_version: ChartVersion, ignore: tuple[str, ...], strict: bool
) -> None:
    """Check values files of the gpu-operator chart for Flatcar nodes, each by itself.

    The chart passes over keys that it does not know. This finds them, values of the wrong type, and what cannot work
    on Flatcar, each with its line. FILE `-` is stdin.

    \b
    flatcar-gpu check-values values.yaml
    helm get values gpu-operator -o yaml | flatcar-gpu check-values -
    """
    report, texts = Report(), {}
    for file in files:
        document = YamlDocument(*read_input(file))
        report.extend(check_values(document, chart_version, ignore))
        texts[document.name] = document.text
    conclude(report, texts, console, strict=strict)
