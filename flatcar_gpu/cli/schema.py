"""flatcar-gpu schema"""

from __future__ import annotations

import json

from flatcar_gpu.cli import framework
from flatcar_gpu.cli.options import output_option
from flatcar_gpu.files import write_output
from flatcar_gpu.spec_reader import json_schema


@framework.command()
@output_option
def command(output: str) -> None:
    """Write the JSON Schema of the spec file.

    \b
    flatcar-gpu schema -o flatcar-gpu.schema.json

    Editors with the YAML language server check a spec that begins with the comment

    \b
    # yaml-language-server: $schema=flatcar-gpu.schema.json
    """
    write_output(output, json.dumps(json_schema(), indent=2).encode() + b"\n")
