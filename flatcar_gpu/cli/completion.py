"""flatcar-gpu completion"""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from flatcar_gpu.cli import framework
from flatcar_gpu.cli.options import output_option
from flatcar_gpu.files import write_output
from flatcar_gpu.resources import data_text


@framework.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]), metavar="bash|zsh|fish")
@output_option
@click.pass_context
def command(ctx: click.Context, shell: str, output: str) -> None:
    """Write the script that lets a shell complete commands, options and their values.

    \b
    flatcar-gpu completion bash -o ~/.local/share/bash-completion/completions/flatcar-gpu
    flatcar-gpu completion fish -o ~/.config/fish/completions/flatcar-gpu.fish
    flatcar-gpu completion zsh -o ~/.zfunc/_flatcar-gpu

    zsh looks in folders of its fpath alone: put `fpath+=~/.zfunc` before `compinit` in ~/.zshrc.
    """
    write_output(output, _script(ctx.find_root(), shell).encode())


def _script(program: click.Context, shell: str) -> str:
    # Click's own script for bash has unquoted words, and offers no file names.
    if shell == "bash":
        return data_text("data/completion.bash")
    complete = get_completion_class(shell)
    if complete is None:
        raise LookupError(f"Click has no completion for {shell}")
    return complete(program.command, {}, str(program.info_name), "_FLATCAR_GPU_COMPLETE").source()
