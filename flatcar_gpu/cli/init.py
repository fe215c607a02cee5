"""flatcar-gpu init"""

from __future__ import annotations

from flatcar_gpu.cli import framework
from flatcar_gpu.cli.options import output_option
from flatcar_gpu.files import write_output
from flatcar_gpu.resources import data_text


@framework.command()
@output_option
def command(output: str) -> None:
    """Write a spec to start from, with comments.

    \b
    flatcar-gpu init -o gpu.yaml
    flatcar-gpu render -f gpu.yaml -o rendered
    """
    write_output(output, data_text("data/starter-spec.yaml").encode())
