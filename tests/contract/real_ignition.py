"""The real Ignition, as Debian packages it (2.14.0, whose newest stable spec is 3.3.0, as on Flatcar 3510)."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from tests.tools import DRACUT_IGNITION, require_root, require_tool

if TYPE_CHECKING:
    from pathlib import Path

# The last thing the files stage does, after every file is written; it fails on systems without SELinux.
_RELABEL_FAILED = "failed to handle relabeling"


def validate_ignition(config: bytes) -> str:
    """What `ignition-validate` says about `config`; empty when it is a valid config without warnings."""
    validator = require_tool("ignition-validate")
    done = subprocess.run([validator, "-"], input=config, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said = done.stdout.decode().strip()
    return said or ("" if done.returncode == 0 else f"ignition-validate exits {done.returncode}")


def apply_ignition(config: bytes, root: Path, scratch: Path) -> Path:
    """Let Ignition write what `config` says below `root`, as it does at a node's first boot.

    `scratch` is a folder for its state outside of `root`. Returns `root`; raises AssertionError with Ignition's log
    where it fails otherwise than by the missing SELinux.
    """
    require_root()
    ignition = require_tool("ignition", DRACUT_IGNITION)
    scratch.mkdir(parents=True, exist_ok=True)
    config_file = scratch / "config.ign"
    config_file.write_bytes(config)
    for stage in ("fetch", "files"):
        command = [ignition, "-platform", "file", "-stage", stage, "-root", str(root), "-log-to-stdout"]
        command += ["-config-cache", str(scratch / "cache.json"), "-state-file", str(scratch / "state.json")]
        command += ["-neednet", str(scratch / "neednet")]
        done = subprocess.run(
            command,
            env={**os.environ, "IGNITION_CONFIG_FILE": str(config_file)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        is_relabelling = stage == "files" and _RELABEL_FAILED in done.stdout
        assert done.returncode == 0 or is_relabelling, f"Ignition failed in its stage {stage}:\n{done.stdout}"
    return root
