"""flatcar-gpu nvml helm-plugin"""

from __future__ import annotations

from pathlib import Path

import click

from flatcar_gpu.cli import framework
from flatcar_gpu.cli.nvml.options import pattern_options, selector_options, spelt_out
from flatcar_gpu.errors import Failure
from flatcar_gpu.files import write_output
from flatcar_gpu.kubernetes.nvml.helm_plugin import PROGRAM, plugin_yaml, program


@framework.command()
@click.option("-o", "--output", required=True, metavar="DIR", help="Folder of the plugin; made where it is missing.")
@click.option(
    "--plugin-name", default="nvml-post-render", show_default=True, metavar="NAME", help="Name of the plugin."
)
@selector_options
@pattern_options
@click.pass_context
def command(ctx: click.Context, /, output: str, plugin_name: str, **_checked: object) -> None:
    """Write a Helm 4 plugin that runs post-render with the options given here.

    Keep its folder apart from the plugins of Helm 3, which takes the program in it as it is.

    \b
    flatcar-gpu nvml helm-plugin -o helm-plugins/nvml-post-render --name kepler
    HELM_PLUGINS=helm-plugins helm install kepler CHART --post-renderer nvml-post-render     # Helm 4
    helm install kepler CHART --post-renderer helm-plugins/nvml-post-render/post-render.sh   # Helm 3
    """
    folder = Path(output)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Failure(f"cannot make the folder {output}: {error.strerror}") from None
    arguments = spelt_out(ctx, left_out=("output", "plugin_name"))
    write_output(str(folder / PROGRAM), program(arguments).encode(), mode=0o755)
    write_output(str(folder / "plugin.yaml"), plugin_yaml(plugin_name).encode())
