"""The command line. Each command is a module of this package that is imported when it runs, not before."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from flatcar_gpu import __version__
from flatcar_gpu.cli.console import Console
from flatcar_gpu.cli.framework import Entry, command_table
from flatcar_gpu.errors import Failure

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

PROGRAM = "flatcar-gpu"

COMMANDS = {
    "ignition": Entry("flatcar_gpu.cli.ignition", "Ignition config of a GPU node (JSON)."),
    "butane": Entry("flatcar_gpu.cli.butane", "Butane config of a GPU node (YAML)."),
    "values": Entry("flatcar_gpu.cli.values", "Helm values of the gpu-operator for the same nodes (YAML)."),
    "nvidia-drivers": Entry("flatcar_gpu.cli.nvidia_drivers", "NVIDIADriver resources of the same nodes (YAML)."),
    "check-values": Entry("flatcar_gpu.cli.check_values", "Check a values file of the gpu-operator."),
    "transpile": Entry("flatcar_gpu.cli.transpile", "Butane config (YAML) to Ignition (JSON)."),
    "merge": Entry("flatcar_gpu.cli.merge", "Several configs merged to one Ignition config."),
    "validate": Entry("flatcar_gpu.cli.validate", "Check Butane and Ignition configs."),
    "init": Entry("flatcar_gpu.cli.init", "A spec to start from."),
    "render": Entry("flatcar_gpu.cli.render", "Everything that a spec describes, as a folder of files."),
    "check": Entry("flatcar_gpu.cli.check", "Check GPU nodes against every compatibility rule."),
    "releases": Entry("flatcar_gpu.cli.releases", "Flatcar releases and what each can do."),
    "image": Entry("flatcar_gpu.cli.image", "Driver images: tags, what registries hold, audits, building them."),
    "nvml": Entry("flatcar_gpu.cli.nvml", "NVIDIA's management library for monitoring agents."),
    "node-prep": Entry("flatcar_gpu.cli.node_prep", "Manifests that prepare nodes which already run (YAML)."),
    "doctor": Entry("flatcar_gpu.cli.doctor", "Check a node that runs."),
    "capi": Entry("flatcar_gpu.cli.capi", "GPU nodes for Cluster API and its image-builder."),
    "terraform": Entry("flatcar_gpu.cli.terraform", "Program of Terraform's external data source."),
    "schema": Entry("flatcar_gpu.cli.schema", "JSON Schema of the spec file, for editors."),
    "explain": Entry("flatcar_gpu.cli.explain", "What a compatibility rule checks, why, and the way out."),
    "completion": Entry("flatcar_gpu.cli.completion", "Completion for bash, zsh and fish."),
}


@command_table(
    COMMANDS,
    epilog=(
        "Every option can be given as an environment variable: --usr-local is FLATCAR_GPU_USR_LOCAL. "
        "Exit codes: 0 fine, 1 findings or failure, 2 usage, 130 interrupted."
    ),
)
@click.version_option(__version__, "-V", "--version", prog_name=PROGRAM, message="%(prog)s %(version)s")
def root() -> None:
    """Provision Flatcar Container Linux nodes for the NVIDIA GPU Operator.

    \b
    flatcar-gpu ignition -o node.ign           a GPU node, ready to boot
    flatcar-gpu butane --driver container      the same node as Butane YAML
    """


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run the program and exit with its code."""
    sys.exit(run(sys.argv[1:] if args is None else args))


def run(args: Sequence[str]) -> int:
    """Run the program on `args` and return its exit code; this is the one place that maps errors to codes."""
    console = Console()
    try:
        result = root.main(args=list(args), prog_name=PROGRAM, standalone_mode=False, obj=console)
    except (KeyboardInterrupt, click.Abort):
        console.error("interrupted")
        return 130
    except click.ClickException as error:
        console.click_error(error)
        return error.exit_code
    except BrokenPipeError:
        console.drop_stdout()
        return 1
    except Failure as failure:
        console.failure(failure)
        return 1
    except Exception as error:
        console.defect(error)
        return 1
    return result if isinstance(result, int) else 0
