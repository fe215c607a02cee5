"""Running collect-node.sh: on a mounted root folder, or in a debugging pod."""

from __future__ import annotations

import shlex
import subprocess
from typing import TYPE_CHECKING

from flatcar_gpu.errors import Failure
from flatcar_gpu.resources import data_text

if TYPE_CHECKING:
    from collections.abc import Sequence


def script() -> str:
    """The script, to run on a node."""
    return data_text("doctor/collect-node.sh")


def at_root(root: str) -> str:
    """What the script prints of the node whose root folder is mounted at `root`. Raises Failure where it fails."""
    return _run(["/bin/sh", "-c", script(), "sh", root])


def in_pod(node: str, image: str) -> str:
    """What the script prints in a debugging pod on `node`. Raises Failure where kubectl is missing or fails."""
    return _run(_debug_command(node, image, script()))


def shown_debug_command(node: str, image: str) -> str:
    """The command of `in_pod` for a shell."""
    given = "SCRIPT"
    line = shlex.join(_debug_command(node, image, given))
    return line.replace(f" {given} ", ' "$(flatcar-gpu doctor --collect-script)" ')


def _debug_command(node: str, image: str, program: str) -> list[str]:
    """The pod shares the node's processes and has its root folder at /host; the profile makes it privileged."""
    options = ["--attach", "--quiet", f"--image={image}", "--profile=sysadmin"]
    return ["kubectl", "debug", f"node/{node}", *options, "--", "sh", "-c", program, "sh", "/host"]


def _run(command: Sequence[str]) -> str:
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, errors="replace")
    except FileNotFoundError:
        raise Failure(f"{command[0]} is not on the path", hint="leave --kubectl out to see the command") from None
    if done.returncode:
        raise Failure(f"{command[0]} exits with {done.returncode}", hint="what it says is above")
    return done.stdout
