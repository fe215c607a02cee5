"""The real Ignition writes exactly what an emitted config says, and nothing else."""

from __future__ import annotations

import hashlib
import stat
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING

import pytest

from tests.contract.emitted import IgnitionConfig, emitted_ignition, read_source
from tests.contract.real_ignition import apply_ignition, validate_ignition

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

EXTENSION = b"a system extension, as far as Ignition cares"

UNITS = "/etc/systemd/system"

# What Ignition leaves for whoever wants to know whether it ran.
RESULT = "/etc/.ignition-result.json"

NODES = (
    (),
    ("--hold-updates", "--modules", "nvidia_peermem"),
    ("--usr-local-upper", "/var/lib/usr-local/upper", "--usr-local-work", "/var/lib/usr-local/work"),
    ("--toolkit-install-dir", "/opt/nvidia"),
    ("--driver", "sysext", "--toolkit", "none"),
    ("--driver", "service", "--driver-version", "570.195.03", "--toolkit", "none"),
    ("--driver", "none"),
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A file, link or directory on the node; owned by root all the same."""

    kind: str
    mode: int | None = None
    contents: bytes = b""


def expected_entries(config: IgnitionConfig) -> Mapping[str, Entry]:
    """What the config says is on the node, by path."""
    entries = {}
    for directory in config.storage.get("directories", ()):
        entries[directory["path"]] = Entry("directory", directory.get("mode", 0o755))
    for file in config.storage.get("files", ()):
        entries[file["path"]] = Entry("file", file.get("mode", 0o644), read_source(file["contents"]["source"]))
    for link in config.storage.get("links", ()):
        entries[link["path"]] = Entry("link", None, link["target"].encode())
    for path, text in config.unit_files().items():
        entries[f"{UNITS}/{path}"] = Entry("file", 0o644, text.encode())
    for name, unit in config.units.items():
        if unit.get("mask"):
            entries[f"{UNITS}/{name}"] = Entry("link", None, b"/dev/null")
    if preset := expected_preset(config):
        entries["/etc/systemd/system-preset/20-ignition.preset"] = Entry("file", 0o644, preset)
    return entries


def expected_preset(config: IgnitionConfig) -> bytes:
    words = {True: "enable", False: "disable"}
    lines = [f"{words[unit['enabled']]} {name}\n" for name, unit in config.units.items() if "enabled" in unit]
    return "".join(lines).encode()


def found_entries(root: Path) -> Mapping[str, Entry]:
    """What is below `root`, by path; without directories that only hold other things."""
    entries = {}
    for path in root.rglob("*"):
        status = path.lstat()
        assert (status.st_uid, status.st_gid) == (0, 0), path
        mode = stat.S_IMODE(status.st_mode)
        if path.is_symlink():
            entry = Entry("link", None, str(path.readlink()).encode())
        elif path.is_file():
            entry = Entry("file", mode, path.read_bytes())
        elif any(path.iterdir()):
            continue
        else:
            entry = Entry("directory", mode)
        entries[f"/{path.relative_to(root)}"] = entry
    return entries


def assert_ignition_writes(config: bytes, tmp_path: Path) -> Mapping[str, Entry]:
    assert validate_ignition(config) == ""
    (tmp_path / "root").mkdir()
    found = dict(found_entries(apply_ignition(config, tmp_path / "root", tmp_path / "scratch")))
    assert found.pop(RESULT)
    assert found == expected_entries(IgnitionConfig.parse(config))
    return found


@pytest.fixture
def from_own_server() -> Iterator[tuple[str, ...]]:
    """Options for a node that fetches its runtime extension from a server of the test's own."""

    class Extension(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(EXTENSION)))
            self.end_headers()
            self.wfile.write(EXTENSION)

        def log_message(self, *_: object) -> None:
            """Nothing on stderr."""

    with HTTPServer(("127.0.0.1", 0), Extension) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}/nvidia-runtime-v1.18.1-x86-64.raw"
        # FG407 is about addresses that mean the node itself, which this machine is here.
        yield ("--driver", "sysext", "--runtime-sysext-url", url, "--ignore", "FG407")
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("options", NODES, ids=lambda options: " ".join(options) or "defaults")
def test_files_modes_links_and_presets_are_those_of_the_config(options: tuple[str, ...], tmp_path: Path) -> None:
    assert assert_ignition_writes(emitted_ignition(*options), tmp_path)


def test_the_default_node_has_what_a_driver_container_needs(tmp_path: Path) -> None:
    found = assert_ignition_writes(emitted_ignition(), tmp_path)
    assert found["/etc/modules-load.d/nvidia-driver.conf"].contents == b"loop\ni2c_core\nipmi_msghandler\n"
    assert found["/etc/systemd/system-preset/20-ignition.preset"].contents == b"enable usr-local.mount\n"
    assert found[f"{UNITS}/nvidia.service"] == Entry("link", None, b"/dev/null")
    assert found["/opt/usr-local-overlay"] == Entry("directory", 0o755)
    assert found["/opt/usr-local-overlay.wd"] == Entry("directory", 0o755)


def test_the_runtime_extension_is_fetched_and_linked(from_own_server: tuple[str, ...], tmp_path: Path) -> None:
    checksum = f"sha256-{hashlib.sha256(EXTENSION).hexdigest()}"
    config = emitted_ignition(*from_own_server, "--runtime-sysext-hash", checksum)
    found = assert_ignition_writes(config, tmp_path)
    link = found["/etc/extensions/nvidia-runtime.raw"]
    assert found[link.contents.decode()] == Entry("file", 0o644, EXTENSION)


def test_ignition_refuses_an_extension_of_another_checksum(from_own_server: tuple[str, ...], tmp_path: Path) -> None:
    config = emitted_ignition(*from_own_server, "--runtime-sysext-hash", "sha256-" + "0" * 64)
    (tmp_path / "root").mkdir()
    with pytest.raises(AssertionError, match="verification"):
        apply_ignition(config, tmp_path / "root", tmp_path / "scratch")
