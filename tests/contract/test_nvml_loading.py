"""What the script leaves behind is loaded by a program as Kepler loads it: dlopen of libnvidia-ml.so.1, no path."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.nvml_sandbox import Sandbox
from tests.tools import require_tool

if TYPE_CHECKING:
    from pathlib import Path

LIBRARY = 'const char *nvmlVersion(void) { return "580.65.06"; }\n'

# Flags as in go-nvml.
PROBE = """
#include <dlfcn.h>
#include <stdio.h>
int main(void) {
    void *library = dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_GLOBAL);
    if (!library) { puts(dlerror()); return 1; }
    const char *(*version)(void) = (const char *(*)(void))dlsym(library, "nvmlVersion");
    puts(version());
    return 0;
}
"""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a library that has NVML's name inside, and the program that loads it."""
    gcc = require_tool("gcc")
    folder = tmp_path_factory.mktemp("compiled")
    (folder / "library.c").write_text(LIBRARY)
    (folder / "probe.c").write_text(PROBE)
    library = ["-shared", "-fPIC", "-Wl,-soname,libnvidia-ml.so.1", "-o", "library.so", "library.c"]
    subprocess.run([gcc, *library], cwd=folder, check=True)
    subprocess.run([gcc, "-o", "probe", "probe.c", "-ldl"], cwd=folder, check=True)
    return folder


def load(compiled: Path, folder: Path) -> tuple[int, str]:
    done = subprocess.run(
        [compiled / "probe"], env={"LD_LIBRARY_PATH": str(folder)}, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize("layout", ["usr/lib64", "usr/lib/x86_64-linux-gnu"])
def test_the_copy_is_loaded_without_the_driver_s_glibc(compiled: Path, layout: str, tmp_path: Path) -> None:
    sandbox = Sandbox(tmp_path)
    shutil.copy(compiled / "library.so", sandbox.library(layout))
    # The driver's own userspace: a program that gets this libc.so.6 dies at start.
    (sandbox.root / layout / "libc.so.6").write_text("not the glibc of the agent's image")
    assert load(compiled, sandbox.root / layout)[0] == 127
    assert sandbox.run().code == 0
    assert load(compiled, sandbox.target) == (0, "580.65.06\n")


def test_links_through_alternatives_are_loaded(compiled: Path, tmp_path: Path) -> None:
    sandbox = Sandbox(tmp_path)
    shutil.copy(compiled / "library.so", sandbox.library("usr/lib/x86_64-linux-gnu/nvidia/current"))
    link = sandbox.root / "usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1"
    link.symlink_to("/usr/lib/x86_64-linux-gnu/nvidia/current/libnvidia-ml.so.1")
    sandbox.run()
    assert load(compiled, sandbox.target) == (0, "580.65.06\n")


def test_nothing_copied_is_nothing_loaded(compiled: Path, tmp_path: Path) -> None:
    sandbox = Sandbox(tmp_path)
    sandbox.run()
    code, says = load(compiled, sandbox.target)
    assert code == 1
    assert "cannot open shared object file" in says


def test_after_a_failed_copy_nothing_is_loaded(compiled: Path, tmp_path: Path) -> None:
    """A part of a library would not only fail to load: it kills the program that tries."""
    sandbox = Sandbox(tmp_path)
    library = sandbox.library("usr/lib64")
    library.write_bytes((compiled / "library.so").read_bytes() + b"\0" * 2_000_000)
    small = 'mount -t tmpfs -o size=1m tmpfs "$3"; '
    kept = tmp_path / "kept"
    result = sandbox.run(before=small, then=f'cp -a "$3" {kept}')
    assert result.code == 1
    assert load(compiled, kept)[0] == 1
