from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import yaml

from flatcar_gpu.cli import run
from flatcar_gpu.cli.releases.abilities import abilities
from flatcar_gpu.flatcar.capabilities import capabilities
from flatcar_gpu.flatcar.snapshot import snapshot
from tests.release_files import LTS, STABLE

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> str:
    (tmp_path / "releases-stable.json").write_bytes(STABLE)
    (tmp_path / "releases-lts.json").write_bytes(LTS)
    return str(tmp_path)


def listed(capsys: pytest.CaptureFixture[str], *args: str) -> list[str]:
    assert run(["releases", "list", *args]) == 0
    return [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:]]


def test_offline_in_an_empty_home_a_release_of_2021_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert run(["releases", "show", "2905.2.0", "--offline"]) == 0
    out, err = capsys.readouterr()
    assert "kernel          5.10.52-flatcar\n" in out
    assert "Ignition 3.x is not accepted" in out
    assert err == ""
    assert list(tmp_path.iterdir()) == []


def test_a_table_has_the_facts_of_the_index_highest_version_first(
    folder: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["releases", "list", "--index-url", folder, "--channel", "stable"]) == 0
    assert capsys.readouterr().out == (
        "VERSION    CHANNEL  DATE        KERNEL   CONTAINERD  SYSTEMD  IGNITION  ARCHITECTURES\n"
        "4459.2.10  stable   2026-03-01  6.12.58  2.0.7       256      2.22.0    amd64,arm64\n"
        "4459.2.9   stable   2026-02-01  6.12.54  2.0.7       256      2.22.0    amd64,arm64\n"
        "4459.2.0   stable   2025-11-12  6.12.54  2.0.7       256      2.22.0    amd64,arm64\n"
    )


@pytest.mark.parametrize(
    ("args", "versions"),
    [
        ([], ["4459.2.10", "4459.2.9", "4459.2.0", "4081.3.10", "4081.3.2", "3510.3.8"]),
        (["--channel", "lts-2024"], ["4081.3.10", "4081.3.2"]),
        (["--channel", "lts-2023", "--channel", "stable"], ["4459.2.10", "4459.2.9", "4459.2.0", "3510.3.8"]),
        (["--kernel", "6.12.54-flatcar"], ["4459.2.9", "4459.2.0"]),
        (["--since", "2026-02-20"], ["4459.2.10", "4081.3.10", "4081.3.2"]),
        (["--since", "4459.2.9"], ["4459.2.10", "4459.2.9"]),
        (["--kernel", "6.12.54", "--since", "2026-01-01", "--arch", "arm64"], ["4459.2.9"]),
    ],
)
def test_the_list_is_narrowed_by_every_filter(
    args: list[str], versions: list[str], folder: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert listed(capsys, "--index-url", folder, *args) == versions


def test_a_release_for_one_architecture_is_not_listed_for_the_other(capsys: pytest.CaptureFixture[str]) -> None:
    assert "2905.2.0" not in listed(capsys, "--offline", "--arch", "arm64")
    assert "2905.2.0" in listed(capsys, "--offline", "--arch", "amd64")


def test_nothing_that_fits_is_said_on_stderr(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["releases", "list", "--index-url", folder, "--kernel", "1.2.3"]) == 0
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == 1
    assert err == "no release fits\n"


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_lists_for_machines_have_a_format_version_and_name_their_source(
    form: str, folder: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["releases", "list", "--index-url", folder, "--channel", "lts-2023", "--format", form]) == 0
    data = yaml.safe_load(capsys.readouterr().out)
    assert data["format_version"] == "1.0"
    assert data["releases"] == [
        {
            "version": "3510.3.8",
            "channel": "lts",
            "date": "2025-08-19",
            "kernel": "5.15.189",
            "docker": "28.0.4",
            "containerd": "2.0.7",
            "systemd": "256",
            "ignition": "2.22.0",
            "architectures": ["amd64", "arm64"],
        }
    ]
    (source,) = data["index"]
    assert (source["source"], source["latest_release"]) == ("file", "2026-03-02")


def test_a_list_can_go_to_a_file(folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "list.json"
    assert run(["releases", "list", "--index-url", folder, "--format", "json", "-o", str(target)]) == 0
    assert capsys.readouterr().out == ""
    assert len(json.loads(target.read_text())["releases"]) == 6


def test_current_prints_the_version_alone(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["releases", "current", "--index-url", folder, "-q"]) == 0
    assert capsys.readouterr() == ("4459.2.10\n", "")


def test_current_for_machines_has_the_release_and_its_source(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["releases", "current", "--index-url", folder, "--channel", "lts-2024", "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["channel"] == "lts-2024"
    assert data["release"]["version"] == "4081.3.10"
    assert data["index"]["source"] == "file"


def test_what_was_used_is_said_with_v(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["releases", "current", "--index-url", folder, "-v"]) == 0
    err = capsys.readouterr().err
    assert "stable is Flatcar 4459.2.10\n" in err
    assert f"release index: file {folder}/releases-stable.json, latest release 2026-03-01" in err


def test_the_index_url_and_offline_can_be_variables(
    folder: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FLATCAR_GPU_INDEX_URL", folder)
    assert len(listed(capsys)) == 6
    monkeypatch.setenv("FLATCAR_GPU_INDEX_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("FLATCAR_GPU_OFFLINE", "1")
    assert listed(capsys, "--kernel", "5.10.52") == ["2942.0.0", "2920.1.0", "2905.2.0"]


def test_the_sources_are_shown_with_v(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["releases", "show", "4593.2.5", "--offline"]) == 0
    assert "source:" not in capsys.readouterr().out
    assert run(["releases", "show", "4593.2.5", "--offline", "-v"]) == 0
    out = capsys.readouterr().out
    assert "NVIDIA sysext   nvidia-drivers-535, nvidia-drivers-535-open," in out
    assert out.count("  source: ") == len(list(abilities(capabilities(found("4593.2.5")))))


def found(version: str):  # type: ignore[no-untyped-def]
    return next(release for release in snapshot() if str(release.version) == version)


def test_what_is_inferred_is_marked(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["releases", "show", "4593.2.5", "--offline"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if "with the drivers" in line]
    assert lines == [f"{'':<18}with the drivers 535.274.02, 550.163.01, 570.195.03, for amd64 only  (inferred)"]


def test_every_release_can_be_said_in_sentences() -> None:
    for release in snapshot():
        for ability in abilities(capabilities(release)):
            assert ability.says
            assert "None" not in ability.says, (release.version, ability)


def test_a_release_for_machines_has_every_fact_with_its_source(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["releases", "show", "4593.2.5", "--offline", "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["release"]["kernel"] == "6.12.102"
    can = data["capabilities"]
    assert can["ignition_spec"] == {
        "value": "3.5.0",
        "source": "coreos/ignition docs/release-notes.md",
        "inferred": False,
    }
    assert can["butane_version"] == "1.0.0"
    assert can["kernel_options"]["DRM"]["value"] == "m"
    assert can["broken_drivers"][0]["branch"] == "535"


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["list", "--channel", "gamma"], "'gamma' is none of alpha, beta, stable, lts, edge and lts-YEAR"),
        (["list", "--kernel", "5.10"], "'5.10' is not a kernel version of Flatcar"),
        (["list", "--since", "last week"], "'last week' is neither a date such as 2026-01-31 nor a version"),
        (["list", "--arch", "s390x"], "'s390x' is not one of"),
        (["current", "--channel", "lts-24"], "'lts-24' is none of"),
        (["update", "--offline"], "--offline forbids"),
        (["update", "--index-url", "/tmp"], "there is nothing to update"),
        (["show"], "Missing argument"),
        (["current", "--timeout", "0"], "--timeout"),
    ],
)
def test_a_wrong_argument_is_a_usage_error_that_says_what_is_right(
    args: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["releases", *args]) == 2
    out, err = capsys.readouterr()
    assert says in err
    assert out == ""


def test_an_unknown_release_is_an_error_with_a_way_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["releases", "show", "4593.2.99", "--offline"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(
        "error: the release index has no 4593.2.99\n  try: with the major number 4593 it has 4593.0.0,"
    )


def test_channels_are_completed_by_the_shell() -> None:
    from click.shell_completion import ShellComplete

    from flatcar_gpu.cli import root

    complete = ShellComplete(root, {}, "flatcar-gpu", "_FLATCAR_GPU_COMPLETE")
    values = [item.value for item in complete.get_completions(["releases", "current", "--channel"], "lts-202")]
    assert values == ["lts-2021", "lts-2022", "lts-2023", "lts-2024"]
