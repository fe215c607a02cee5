"""The copy script on made driver trees: every layout of a driver root, and every case tried by hand before."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from flatcar_gpu.kubernetes.nvml.pattern import copy_script
from tests.nvml_sandbox import Sandbox, chain
from tests.tools import require_tool

MULTIARCH = "usr/lib/x86_64-linux-gnu"
NONE_FOUND = "No NVML libraries found at /run-nvidia"
COPIED_3 = "Copied 3 NVML library file(s) to /nvml-libs"


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    return Sandbox(tmp_path)


def assert_copied(sandbox: Sandbox, version: str = "580.65.06") -> None:
    result = sandbox.run()
    assert (result.code, result.last_line, result.entries()) == (0, COPIED_3, chain(version))


def assert_none_found(sandbox: Sandbox, explanation: str = "") -> None:
    result = sandbox.run()
    assert (result.code, result.last_line, result.entries()) == (0, NONE_FOUND, {})
    assert explanation in result.output


class TestLayouts:
    """Where drivers lie: driver containers of Ubuntu, RHEL and Flatcar, extension, nvidia.service, GKE, Debian."""

    @pytest.mark.parametrize("folder", ["usr/lib64", MULTIARCH, "usr/lib/aarch64-linux-gnu"])
    def test_driver_container(self, sandbox: Sandbox, folder: str) -> None:
        sandbox.library(folder)
        assert_copied(sandbox)

    @pytest.mark.parametrize(
        ("folder", "folder_32_bit"), [("usr/lib64", "usr/lib"), (MULTIARCH, "usr/lib/i386-linux-gnu")]
    )
    def test_32_bit_libraries_beside_it_are_left(self, sandbox: Sandbox, folder: str, folder_32_bit: str) -> None:
        sandbox.library(folder_32_bit, text="32 bit")
        assert_none_found(sandbox)
        sandbox.library(folder)
        assert_copied(sandbox)

    def test_service_build_has_no_plain_link(self, sandbox: Sandbox) -> None:
        sandbox.library("570.195.03/6.6.95-flatcar/usr/lib64", "570.195.03", plain_link=False)
        (sandbox.root / "current").symlink_to("570.195.03/6.6.95-flatcar")
        result = sandbox.run(NVML_DRIVER_ROOTS="/run-nvidia/current")
        expected = chain("570.195.03")
        del expected["libnvidia-ml.so"]
        assert (result.code, result.last_line) == (0, "Copied 2 NVML library file(s) to /nvml-libs")
        assert result.entries() == expected

    def test_gke_keeps_it_in_lib64(self, sandbox: Sandbox) -> None:
        sandbox.library("lib64")
        assert_none_found(sandbox)
        assert sandbox.run(NVML_LIB_DIRS="lib64").entries() == chain()

    def test_debian_alternatives_are_absolute_links(self, sandbox: Sandbox) -> None:
        sandbox.library(f"{MULTIARCH}/nvidia/current", "535.261.03")
        alternatives = sandbox.root / "etc" / "alternatives"
        alternatives.mkdir(parents=True)
        for name in ("libnvidia-ml.so", "libnvidia-ml.so.1"):
            (sandbox.root / MULTIARCH / name).symlink_to(f"/etc/alternatives/glx--{name}")
            (alternatives / f"glx--{name}").symlink_to(f"/{MULTIARCH}/nvidia/current/{name}")
        assert_copied(sandbox, "535.261.03")

    def test_several_roots_in_turn(self, sandbox: Sandbox) -> None:
        sandbox.library("sysext/usr/lib64", "570.1.1")
        sandbox.library("service/usr/lib64", "570.2.2")
        result = sandbox.run(NVML_DRIVER_ROOTS="/run-nvidia/container /run-nvidia/service /run-nvidia/sysext")
        assert result.entries() == chain("570.2.2")


class TestTrials:
    """The table of trials: on busybox 1.35 and 1.36 the former script failed in many of these."""

    def test_rerun_with_the_same_files(self, sandbox: Sandbox) -> None:
        sandbox.library(MULTIARCH)
        assert_copied(sandbox)
        assert_copied(sandbox)

    def test_rerun_after_driver_change(self, sandbox: Sandbox) -> None:
        sandbox.library(MULTIARCH, "570.1.1")
        assert_copied(sandbox, "570.1.1")
        for path in (sandbox.root / MULTIARCH).iterdir():
            path.unlink()
        sandbox.library(MULTIARCH, "580.65.06")
        assert_copied(sandbox, "580.65.06")

    def test_folder_is_relative_link_to_the_other(self, sandbox: Sandbox) -> None:
        sandbox.library(MULTIARCH)
        (sandbox.root / "usr" / "lib64").symlink_to("lib/x86_64-linux-gnu")
        assert_copied(sandbox)

    def test_folder_is_absolute_link_to_the_other(self, sandbox: Sandbox) -> None:
        sandbox.library(MULTIARCH)
        (sandbox.root / "usr" / "lib64").symlink_to(f"/{MULTIARCH}")
        assert_copied(sandbox)

    def test_two_folders_with_different_versions(self, sandbox: Sandbox) -> None:
        sandbox.library("usr/lib64", "580.65.06")
        sandbox.library(MULTIARCH, "570.1.1")
        assert_copied(sandbox, "580.65.06")

    def test_chain_in_first_folder_and_plain_file_in_second(self, sandbox: Sandbox) -> None:
        sandbox.library("usr/lib64", "580.65.06")
        (sandbox.root / MULTIARCH).mkdir(parents=True)
        (sandbox.root / MULTIARCH / "libnvidia-ml.so.1").write_text("NVML 570")
        assert_copied(sandbox, "580.65.06")

    def test_directory_with_the_name_of_the_library(self, sandbox: Sandbox) -> None:
        (sandbox.root / "usr/lib64/libnvidia-ml.so.1").mkdir(parents=True)
        assert_none_found(sandbox, "Skipped /run-nvidia/usr/lib64/libnvidia-ml.so.1")
        sandbox.library(MULTIARCH)
        assert_copied(sandbox)

    @pytest.mark.parametrize("target", ["libnvidia-ml.so.580.65.06", "libnvidia-ml.so", "../../../../../../etc/hosts"])
    def test_dangling_chain_or_loop(self, sandbox: Sandbox, target: str) -> None:
        folder = sandbox.root / "usr/lib64"
        folder.mkdir(parents=True)
        (folder / "libnvidia-ml.so").symlink_to("libnvidia-ml.so.1")
        (folder / "libnvidia-ml.so.1").symlink_to(target)
        assert_none_found(sandbox, "Skipped /run-nvidia/usr/lib64/libnvidia-ml.so.1")

    def test_dangling_link_beside_a_versioned_file(self, sandbox: Sandbox) -> None:
        file = sandbox.library("usr/lib64")
        file.rename(file.with_name("libnvidia-ml.so.580.95.05"))
        assert_none_found(sandbox, "Skipped /run-nvidia/usr/lib64/libnvidia-ml.so.580.95.05")

    def test_names_without_match(self, sandbox: Sandbox) -> None:
        folder = sandbox.root / "usr/lib64"
        folder.mkdir(parents=True)
        (folder / "libcuda.so.1").write_text("CUDA")
        assert_none_found(sandbox)

    @pytest.mark.parametrize("folders", [[], ["usr/lib64", MULTIARCH]])
    def test_empty_root_or_folders(self, sandbox: Sandbox, folders: list[str]) -> None:
        for folder in folders:
            (sandbox.root / folder).mkdir(parents=True)
        assert_none_found(sandbox)

    def test_unreadable_library_of_another_user_fails(self, sandbox: Sandbox) -> None:
        file = sandbox.library("usr/lib64")
        file.chmod(0o600)
        os.chown(file, 1000, 1000)
        result = sandbox.run()
        assert result.code == 1
        assert "Permission denied" in result.output
        assert result.entries() == {}

    def test_readable_library_of_another_user(self, sandbox: Sandbox) -> None:
        file = sandbox.library("usr/lib64")
        file.chmod(0o755)
        os.chown(file, 1000, 1000)
        assert_copied(sandbox)

    def test_volume_of_another_user_fails_unless_it_is_writable(self, sandbox: Sandbox) -> None:
        sandbox.library("usr/lib64")
        os.chown(sandbox.target, 1000, 1000)
        sandbox.target.chmod(0o755)
        result = sandbox.run()
        assert result.code == 1
        assert "Permission denied" in result.output
        os.chown(sandbox.target, 0, 2000)
        sandbox.target.chmod(0o2777)
        assert_copied(sandbox)

    def test_read_only_volume_fails(self, sandbox: Sandbox) -> None:
        sandbox.library("usr/lib64")
        result = sandbox.run(mount_options="ro")
        assert result.code == 1
        assert "Read-only file system" in result.output

    def test_full_volume_fails_without_links_to_the_part_again_and_again(self, sandbox: Sandbox) -> None:
        file = sandbox.library("usr/lib64")
        file.write_bytes(b"N" * 2_000_000)
        fill = 'mount -t tmpfs -o size=1m tmpfs "$3"; '
        for _ in range(2):
            result = sandbox.run(before=fill, then='ls "$3"')
            assert result.code == 1
            assert "No space left on device" in result.output
            assert "libnvidia-ml.so.1\n" not in result.output

    def test_leftovers_of_other_versions_are_not_copied(self, sandbox: Sandbox) -> None:
        sandbox.library("usr/lib64", "580.65.06")
        for version in ("550.1.1", "560.1.1", "570.1.1"):
            (sandbox.root / f"usr/lib64/libnvidia-ml.so.{version}").write_text("old")
        assert_copied(sandbox)


class TestMore:
    def test_is_posix_shell(self) -> None:
        shellcheck = require_tool("shellcheck")
        done = subprocess.run([shellcheck, "-"], input=copy_script(), capture_output=True, text=True, check=False)
        assert done.stdout == ""

    def test_plain_file_with_the_final_name(self, sandbox: Sandbox) -> None:
        folder = sandbox.root / "usr/lib64"
        folder.mkdir(parents=True)
        (folder / "libnvidia-ml.so.1").write_text("NVML")
        result = sandbox.run()
        assert result.last_line == "Copied 1 NVML library file(s) to /nvml-libs"
        assert result.entries() == {"libnvidia-ml.so.1": "NVML"}

    def test_file_of_a_foreign_name_gets_the_final_one(self, sandbox: Sandbox) -> None:
        folder = sandbox.root / "usr/lib64"
        folder.mkdir(parents=True)
        (folder / "nvml.bin").write_text("NVML")
        (folder / "libnvidia-ml.so.1").symlink_to("nvml.bin")
        assert sandbox.run().entries() == {"libnvidia-ml.so.1": "NVML"}

    def test_empty_file_is_skipped(self, sandbox: Sandbox) -> None:
        (sandbox.root / "usr/lib64").mkdir(parents=True)
        (sandbox.root / "usr/lib64/libnvidia-ml.so.1").touch()
        sandbox.library(MULTIARCH)
        assert_copied(sandbox)

    def test_library_of_another_version_than_the_module_is_told(self, sandbox: Sandbox) -> None:
        sandbox.library("usr/lib64", "580.65.06")
        module = sandbox.system / "sys/module/nvidia"
        module.mkdir(parents=True)
        (module / "version").write_text("580.65.06\n")
        assert "Warning" not in sandbox.run().output
        (module / "version").write_text("570.195.03\n")
        result = sandbox.run()
        assert result.output.startswith("Warning: the library is 580.65.06, the loaded kernel module 570.195.03")
        assert (result.code, result.last_line) == (0, COPIED_3)

    def test_wait_time_must_be_a_number(self, sandbox: Sandbox) -> None:
        assert sandbox.run(NVML_WAIT_SECONDS="5s").code == 1

    def test_process_1_that_waits_ends_when_told(self) -> None:
        unshare = require_tool("unshare")
        if os.geteuid() != 0:
            pytest.skip("a process namespace needs root")
        settings = {"NVML_DRIVER_ROOTS": "/none", "NVML_TARGET": "/none", "NVML_WAIT_SECONDS": "60"}
        command = [unshare, "--pid", "--fork", "--kill-child", "busybox", "sh", "-c", "echo $$; " + copy_script()]
        with subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, **settings}) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"1\n"
            assert process.stdout.readline().startswith(b"Waiting up to 60 seconds")
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
            os.kill(int(children), signal.SIGTERM)
            assert process.wait(10) == 143
