from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import pytest

from flatcar_gpu.cli import run
from flatcar_gpu.node import build
from flatcar_gpu.node.snippets import of_plan
from flatcar_gpu.plan import resolve
from flatcar_gpu.spec import DriverSpec, Spec, Strategy, UpdatesSpec
from flatcar_gpu.transpile import merge, transpile, transpile_tree

if TYPE_CHECKING:
    from pathlib import Path

SPECS = [
    Spec(driver=DriverSpec(strategy=strategy, version=version), modules=("ib_core",), updates=UpdatesSpec(hold=hold))
    for strategy in Strategy
    for version in (None, "580.126.09")
    for hold in (False, True)
]


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: f"{spec.driver.strategy}-{spec.updates.hold}")
def test_the_snippets_of_a_plan_merge_to_its_node(spec: Spec) -> None:
    plan = resolve(spec)
    results = [transpile(data) for _, data in of_plan(plan)]
    assert [len(result.report) for result in results] == [0] * len(results)
    assert reduce(merge, [result.config for result in results]) == transpile_tree(build(plan)).config


def test_a_folder_gets_all_snippets_and_is_replaced_as_a_whole(tmp_path: Path) -> None:
    folder = tmp_path / "snippets"
    assert run(["butane", "--snippets", str(folder)]) == 0
    first = {path.name for path in folder.glob("*.bu")}
    assert first == {
        "kernel-modules.bu",
        "usr-local-overlay.bu",
        "containerd-gpu-operator.bu",
        "mask-nvidia-service.bu",
    }
    assert run(["butane", "--driver", "none", "--modules", "ib_core", "--snippets", str(folder)]) == 0
    assert [path.name for path in folder.glob("*.bu")] == ["kernel-modules.bu"]
    assert "ib_core" in (folder / "kernel-modules.bu").read_text()


def test_a_folder_with_files_of_others_is_left_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.bu").write_text("mine")
    assert run(["butane", "--snippets", str(tmp_path)]) == 1
    assert "mine.bu" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.bu"]


def test_where_the_node_is_wrong_no_folder_is_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "snippets"
    assert run(["butane", "--driver", "sysext", "--strict", "--snippets", str(folder)]) == 1
    assert run(["butane", "--check", "--snippets", str(folder)]) == 0
    assert run(["butane", "--snippets", str(folder), "-o", str(tmp_path / "node.bu")]) == 2
    assert list(tmp_path.iterdir()) == []
    assert "give one of them" in capsys.readouterr().err
