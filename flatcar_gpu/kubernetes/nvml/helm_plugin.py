"""A Helm 4 plugin that runs post-render. Helm 3 takes the plugin's program itself as --post-renderer.

Source: helm v4.1.4, plugin type postrenderer/v1, runtime subprocess.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from flatcar_gpu import __version__
from flatcar_gpu.kubernetes.nvml.yaml_edit import block_text

if TYPE_CHECKING:
    from collections.abc import Sequence

PROGRAM = "post-render.sh"


def plugin_yaml(name: str) -> str:
    """plugin.yaml of the plugin called `name`."""
    return block_text(
        {
            "apiVersion": "v1",
            "type": "postrenderer/v1",
            "name": name,
            "version": __version__,
            "runtime": "subprocess",
            "runtimeConfig": {"platformCommand": [{"command": f"${{HELM_PLUGIN_DIR}}/{PROGRAM}"}]},
        }
    )


def program(arguments: Sequence[str]) -> str:
    """The program: post-render with `arguments`, and with those that Helm adds (--post-renderer-args)."""
    return (
        "#!/bin/sh\n"
        "# Gives a workload NVIDIA's management library: manifests on stdin, the same with the change on stdout.\n"
        "# FLATCAR_GPU names the program where it is not on the path.\n"
        f'exec "${{FLATCAR_GPU:-flatcar-gpu}}" nvml post-render {shlex.join(arguments)} "$@"\n'
    )
