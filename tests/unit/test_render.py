from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flatcar_gpu.cli import run
from flatcar_gpu.transpile import transpile

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
EXPECTED = ROOT / "tests" / "rendered"


def _files(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in folder.rglob("*")
        if path.is_file() and path.name not in (".flatcar-gpu", "node.ign")
    }


@pytest.fixture
def spec(tmp_path: Path) -> Callable[[str], str]:
    def written(text: str) -> str:
        (tmp_path / "spec.yaml").write_text(text)
        return str(tmp_path / "spec.yaml")

    return written


def test_the_example_is_rendered_as_reviewed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert run(["render", "-f", str(ROOT / "examples" / "fleet" / "gpu.yaml"), "-o", str(out)]) == 0
    assert capsys.readouterr().out == ""
    assert _files(out) == _files(EXPECTED / "fleet")


def test_each_node_s_ignition_is_that_of_its_butane(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert run(["render", "-f", str(ROOT / "examples" / "fleet" / "gpu.yaml"), "-o", str(out), "-q"]) == 0
    for node in out.glob("*/node.bu"):
        assert node.with_name("node.ign").read_bytes() == transpile(node.read_bytes()).ignition


def test_check_fails_only_where_something_would_change(
    tmp_path: Path, spec: Callable[[str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    path = spec("driver: {strategy: none}\n")
    out = str(tmp_path / "out")
    assert run(["render", "-f", path, "-o", out, "--check"]) == 1
    assert "new: gpu/node.ign" in capsys.readouterr().err
    assert not Path(out).exists()
    assert run(["render", "-f", path, "-o", out]) == 0
    assert run(["render", "-f", path, "-o", out, "--check"]) == 0
    capsys.readouterr()
    path = spec("driver: {strategy: none}\nmodules: [nvidia_peermem]\n")
    assert run(["render", "-f", path, "-o", out, "--check"]) == 1
    assert capsys.readouterr().err.startswith("changed: gpu/node.bu\nchanged: gpu/node.ign\nerror: the files in ")
    assert run(["render", "-f", path, "-o", out, "--diff"]) == 0
    assert "\n+        nvidia_peermem\n" in capsys.readouterr().out


def test_sections_about_files_that_are_not_there_are_left_out(tmp_path: Path, spec: Callable[[str], str]) -> None:
    out = tmp_path / "out"
    assert run(["render", "-f", spec("driver: {strategy: sysext}\n"), "-o", str(out), "-q"]) == 0
    readme = (out / "README.md").read_text()
    for absent in ("nvidiadrivers", "Kepler", "image check"):
        assert absent not in readme
    assert "values.yaml" in readme


def test_a_pool_says_only_what_differs(tmp_path: Path, spec: Callable[[str], str]) -> None:
    text = (
        "driver: {strategy: service, version: '570.195.03'}\nmodules: [one]\n"
        "pools:\n  - {name: a}\n  - {name: b, modules: [two], driver: {version: '535.309.01'}}\n"
    )
    out = tmp_path / "out"
    assert run(["render", "-f", spec(text), "-o", str(out), "-q"]) == 0
    nodes = {name: (out / name / "node.bu").read_text() for name in ("a", "b")}
    assert "one" in nodes["a"]
    assert "570.195.03" in nodes["a"]
    assert "one" not in nodes["b"]
    assert "535.309.01" in nodes["b"]


def test_one_node_of_a_spec_with_pools_is_chosen_by_name(
    spec: Callable[[str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    path = spec("pools: [{name: a, modules: [one]}, {name: b}]\n")
    assert run(["butane", "-f", path, "--pool", "a"]) == 0
    assert "one" in capsys.readouterr().out
    assert run(["butane", "-f", path]) == 1
    assert "choose with --pool: a, b" in capsys.readouterr().err
    assert run(["butane", "-f", path, "--pool", "c"]) == 1
    assert "its pools are a, b" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("pools: [{labels: {a: b}}]\n", "pools.0.name"),
        ("pools: [{name: A}]\n", "'A' is not the name of a Kubernetes object"),
        ("pools: [{name: ../a}]\n", "'../a' is not the name of a Kubernetes object"),
        ("pools: [{name: a}, {name: a}]\n", "'a' is also the name of the pool 1"),
        ("pools: [{name: a, taints: ['x=:Never']}]\n", "'x=:Never' is not a taint"),
        ("pools: [{name: a, drivr: {}}]\n", "did you mean 'driver'?"),
        ("pools: [{name: a, driver: {strategy: sysxt}}]\n", "did you mean 'sysext'?"),
        ("pools: [{name: a, operator: {nri: true}}]\n", "there is no setting 'operator'"),
        ("pools: a\n", "expected a list, found 'a'"),
        ("pools: [a]\n", "expected a mapping, found 'a'"),
    ],
)
def test_what_is_wrong_in_a_pool_is_found_at_its_place(
    text: str, says: str, tmp_path: Path, spec: Callable[[str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["render", "-f", spec(text), "-o", str(tmp_path / "out")]) == 1
    err = capsys.readouterr().err
    assert says in err
    assert "spec.yaml:1:" in err
    assert not (tmp_path / "out").exists()


def test_the_starter_spec_renders(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "gpu.yaml"
    assert run(["init", "-o", str(path)]) == 0
    assert run(["render", "-f", str(path), "-o", str(tmp_path / "out"), "--offline", "-q"]) == 0
    assert (tmp_path / "out" / "training" / "node.ign").exists()
    json.loads((tmp_path / "out" / "inference" / "node.ign").read_text())
