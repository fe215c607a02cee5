"""flatcar-gpu nvml script"""

from __future__ import annotations

from flatcar_gpu.cli import framework
from flatcar_gpu.cli.options import output_option
from flatcar_gpu.files import write_output
from flatcar_gpu.kubernetes.nvml.pattern import copy_script


@framework.command()
@output_option
def command(output: str) -> None:
    """Write the script that the init container runs, as it is in every other output.

    \b
    flatcar-gpu nvml script -o copy-nvml.sh
    """
    write_output(output, copy_script().encode())
