"""flatcar-gpu image digest"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from flatcar_gpu.cli import framework
from flatcar_gpu.cli.image.options import driver_options, look_up_all, registry_options, tag_format_option
from flatcar_gpu.cli.image.targets import find_target
from flatcar_gpu.cli.index_options import index_options
from flatcar_gpu.cli.options import output_option
from flatcar_gpu.errors import Failure
from flatcar_gpu.files import write_output
from flatcar_gpu.images.lookup import State
from flatcar_gpu.images.tags import driver_image

if TYPE_CHECKING:
    from flatcar_gpu.cli.console import Console
    from flatcar_gpu.cli.image.options import RegistryArguments
    from flatcar_gpu.flatcar.access import Access
    from flatcar_gpu.images.tags import Driver


@framework.command()
@driver_options
@click.option("--flatcar", required=True, metavar="VERSION|CHANNEL", help="The nodes' release.")
@tag_format_option
@output_option
@registry_options
@index_options
@click.pass_obj
def command(
    console: Console, driver: Driver, flatcar: str, output: str, registry: RegistryArguments, access: Access
) -> None:
    """Print the digest of the image for a release, for `driver.version`.

    The operator appends nothing to a digest, so it must be that of an image for the nodes' own release, and it cannot
    be combined with driver.usePrecompiled.

    \b
    flatcar-gpu image digest --driver-version 580.126.20 --flatcar stable --repository registry.example.com/nvidia
    """
    target = find_target(flatcar, driver, access, console)
    reference = driver_image(driver, "flatcar", target.version, target.kernel).reference
    found = look_up_all([reference], registry, access, console, platforms=False)[reference]
    if found.state is not State.PRESENT:
        raise Failure(found.message, found.hint)
    write_output(output, f"{found.digest}\n".encode())
