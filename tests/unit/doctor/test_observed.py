from __future__ import annotations

from pathlib import Path

import pytest

from flatcar_gpu.doctor.observed import Observed, parse_observed

EXAMPLE = Path(__file__).parents[3] / "examples/doctor/gpu-node.txt"


def _observed(**parts: str) -> Observed:
    """The example with the lines of some parts replaced."""
    example = parse_observed(EXAMPLE.read_text(), "example")
    return Observed({**example.parts, **{name.replace("_", "-"): text.splitlines() for name, text in parts.items()}})


@pytest.mark.parametrize(
    ("command_line", "config"),
    [
        ("/usr/bin/containerd --config /etc/a.toml --log-level info", "/etc/a.toml"),
        ("/usr/bin/containerd --config=/etc/a.toml", "/etc/a.toml"),
        ("/usr/bin/containerd -c /etc/a.toml", "/etc/a.toml"),
        ("/usr/bin/containerd", "/etc/containerd/config.toml"),
        ("", ""),
    ],
)
def test_the_config_of_containerd_is_in_its_command_line(command_line: str, config: str) -> None:
    assert _observed(containerd=command_line).containerd_config == config


def test_only_runtimes_that_containerd_reads_count() -> None:
    configs = """\
# /etc/containerd/config.toml
imports = ['/etc/containerd/conf.d/*.toml']
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
# /etc/containerd/conf.d/99-nvidia.toml
  [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.nvidia]
  [plugins."io.containerd.cri.v1.runtime".containerd.runtimes."nvidia-cdi"]
# /etc/containerd/config-nvidia.toml
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.other]"""
    own = _observed(containerd="containerd", containerd_configs=configs)
    assert own.runtimes == {"runc", "nvidia", "nvidia-cdi"}
    other = _observed(containerd="containerd -c /etc/containerd/config-nvidia.toml", containerd_configs=configs)
    assert other.runtimes == {"other"}
    missing = _observed(containerd="containerd -c /etc/elsewhere.toml", containerd_configs=configs)
    assert missing.runtimes == set()


def test_modules_count_by_any_spelling() -> None:
    observed = _observed(modules="nvidia_peermem", modules_builtin="i2c-core")
    assert observed.modules == {"nvidia_peermem", "i2c_core"}


def test_the_node_s_update_settings_win_over_the_release_s() -> None:
    settings = _observed(update="GROUP=stable\nSERVER=https://a/\nSERVER=disabled").update_settings
    assert settings == {"GROUP": "stable", "SERVER": "disabled"}


def test_lines_before_the_head_and_windows_line_ends_are_no_trouble() -> None:
    text = "If you don't see a command prompt, try pressing enter.\n" + EXAMPLE.read_text()
    expected = parse_observed(EXAMPLE.read_text(), "example")
    assert parse_observed(text, "pod") == expected
    assert parse_observed(text.replace("\n", "\r\n"), "pod") == expected
