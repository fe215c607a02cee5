"""flatcar-gpu image tag"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from flatcar_gpu.cli import framework
from flatcar_gpu.cli.image.options import driver_options, mode_option, tag_format_option
from flatcar_gpu.cli.image.targets import find_target
from flatcar_gpu.cli.index_options import index_options
from flatcar_gpu.cli.options import output_option
from flatcar_gpu.files import write_output
from flatcar_gpu.images.tags import driver_image
from flatcar_gpu.report import Report

if TYPE_CHECKING:
    from flatcar_gpu.cli.console import Console
    from flatcar_gpu.flatcar.access import Access
    from flatcar_gpu.images.tags import Driver


@framework.command()
@driver_options
@click.option("--flatcar", required=True, metavar="VERSION|CHANNEL", help="The nodes' release.")
@click.option("--kernel", metavar="RELEASE", help="The nodes' kernel as `uname -r` prints it; else the index tells.")
@mode_option
@tag_format_option
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="Form of the output.")
@output_option
@index_options
@click.pass_obj
def command(
    console: Console, driver: Driver, flatcar: str, kernel: str | None, form: str, output: str, access: Access
) -> None:
    """Print the reference that nodes on a release will pull. No registry is asked.

    \b
    flatcar-gpu image tag --driver-version 580.126.20 --flatcar stable
    flatcar-gpu image tag --driver-version 535 --precompiled --flatcar 2905.2.0 --format json
    """
    target = find_target(flatcar, driver, access, console, kernel)
    image = driver_image(driver, "flatcar", target.version, target.kernel)
    report = Report()
    for warning in image.warnings:
        report.warning(warning)
    console.report(report)
    if form == "text":
        write_output(output, f"{image.reference}\n".encode())
        return
    from flatcar_gpu.cli.releases.output import as_data

    data = {
        "reference": str(image.reference),
        "os_tag": image.os_tag,
        "release": target.version,
        "channel": target.channel,
        "kernel": target.kernel,
        "mode": str(driver.mode),
        "chart_version": driver.chart,
        "tag_format": str(driver.tag_format),
        "why": image.why,
        "source": image.source,
        "warnings": list(image.warnings),
    }
    write_output(output, as_data(data, "json").encode())
