"""A running machine that node-prep prepares comes to the state that Ignition gives a new one, and back."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flatcar_gpu.doctor import collection
from flatcar_gpu.doctor.observed import parse_observed
from flatcar_gpu.kubernetes.node_prep.manifests import SCRIPT
from flatcar_gpu.kubernetes.node_prep.source import script, source_folder
from flatcar_gpu.node import build
from flatcar_gpu.plan import resolve
from flatcar_gpu.settings import with_values
from flatcar_gpu.spec import Spec
from tests.contract.emitted import emitted_ignition
from tests.tools import require_tool
from tests.vm.machine import Boot, Machine

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.vm.system import System

pytestmark = pytest.mark.vm

HERE = Path(__file__).parent

# Stands for Flatcar's containerd: its unit, and a program that shows in its command line what it was given.
CONTAINERD_UNIT = """\
[Service]
ExecStart=/usr/bin/containerd --config /usr/share/containerd/config.toml

[Install]
WantedBy=multi-user.target
"""
CONTAINERD = "#!/bin/sh\nwhile :; do sleep 1000; done\n"

# Docker's busybox image has them and many more.
APPLETS = ["cat", "chmod", "chroot", "cp", "cut", "find", "grep", "ln", "mkdir", "mv", "readlink", "rm", "rmdir"]
APPLETS += ["sed", "sh", "sha256sum", "sha512sum", "tr"]

USERS_UPDATE_CONF = "GROUP=stable\n"


def machine(debian: System, folder: Path) -> Machine:
    """A machine with what a Flatcar node has, and with what the DaemonSet's container has."""
    made = Machine(debian, folder)
    made.add_extension("first", {"bin/containerd": CONTAINERD})
    (made.root / "etc/extensions/first/usr/bin/containerd").chmod(0o755)
    (made.root / "etc/systemd/system/containerd.service").write_text(CONTAINERD_UNIT)
    shutil.copy(HERE / "node-state.sh", made.root)
    (made.root / "collect-node.sh").write_text(collection.script())
    _add_container(made.root / "container")
    return made


def _add_container(container: Path) -> None:
    for name in ("bin", "dev", "host", "proc", "source"):
        (container / name).mkdir(parents=True)
    shutil.copy(require_tool("busybox"), container / "bin/busybox")
    for applet in APPLETS:
        (container / "bin" / applet).symlink_to("busybox")
    plan = resolve(with_values(Spec(), {"updates.hold": True}))
    for path, text in {SCRIPT: script(), **source_folder(build(plan))}.items():
        file = container / "source" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


@pytest.fixture(scope="module")
def boots(
    debian: System, machine_folder: Callable[[str], Path], tell: Callable[[str, Boot], None]
) -> tuple[Boot, Boot, Boot]:
    """The machine that Ignition prepared, and the first and second boot of the one that node-prep prepares."""
    with machine(debian, machine_folder("prepared-by-ignition")) as ignited:
        ignited.ignite(emitted_ignition("--hold-updates"))
        by_ignition = ignited.boot(HERE / "node-prep-ignition.sh")
    tell(f"Ignition: usr-local.mount is {by_ignition.fact('ignition.mount')}", by_ignition)
    with machine(debian, machine_folder("prepared-by-node-prep")) as running:
        (running.root / "etc/flatcar").mkdir()
        (running.root / "etc/flatcar/update.conf").write_text(USERS_UPDATE_CONF)
        first = running.boot(HERE / "node-prep-first.sh")
        second = running.boot(HERE / "node-prep-second.sh")
    tell(f"node-prep: usr-local.mount is {first.fact('applied.mount')}", first)
    tell(f"node-prep, booted again: {second.fact('rebooted.mount')}, then {second.fact('removed.mount')}", second)
    return by_ignition, first, second


def state(boot: Boot, stage: str) -> dict[str, list[str]]:
    """What a stage reports of the node, without what the script says."""
    prefix = f"{stage}."
    return {key.removeprefix(prefix): list(facts) for key, facts in boot.facts.items() if key.startswith(prefix)}


def test_node_prep_reaches_the_state_that_ignition_does(boots: tuple[Boot, Boot, Boot]) -> None:
    by_ignition, first, _ = boots
    assert first.fact("apply.exit") == "0", first.facts["apply.log"]
    wanted = state(by_ignition, "ignition")
    assert wanted["usr-local-writable"] == ["yes"]
    assert state(first, "applied") == wanted


@pytest.mark.parametrize("stage", ["again", "refreshed"])
def test_the_state_stays_after(stage: str, boots: tuple[Boot, Boot, Boot]) -> None:
    by_ignition, first, _ = boots
    extra = {"exit", "log", "containerd-restarted"}
    found = {key: values for key, values in state(first, stage).items() if key not in extra}
    assert found == state(by_ignition, "ignition")


def test_the_state_outlasts_a_reboot(boots: tuple[Boot, Boot, Boot]) -> None:
    by_ignition, _, second = boots
    found = state(second, "rebooted")
    assert found.pop("kept") == ["toolkit"]
    assert found == state(by_ignition, "ignition")


def test_a_second_run_changes_nothing(boots: tuple[Boot, Boot, Boot]) -> None:
    _, first, second = boots
    for boot, stage in ((first, "again"), (second, "after-reboot")):
        assert boot.fact(f"{stage}.exit") == "0"
        assert boot.facts[f"{stage}.log"] == [
            "prepare-node: status: /usr/local is writable",
            "prepare-node: status: containerd reads /etc/containerd/config.toml",
            "prepare-node: nothing to change",
        ]
    assert first.fact("again.containerd-restarted") == "no"


def test_a_node_from_ignition_is_left_alone(boots: tuple[Boot, Boot, Boot]) -> None:
    by_ignition, _, _ = boots
    assert by_ignition.facts["apply.log"][-1] == "prepare-node: nothing to change"
    assert by_ignition.facts["remove.log"] == ["prepare-node: nothing to change"]
    wanted = state(by_ignition, "ignition")
    assert state(by_ignition, "untouched") == wanted
    assert state(by_ignition, "unremoved") == wanted


def test_remove_says_that_the_overlay_is_in_use(boots: tuple[Boot, Boot, Boot]) -> None:
    _, _, second = boots
    assert second.fact("in-use.exit") == "1"
    assert any("usr-local.mount is in use" in line for line in second.facts["in-use.log"])


def test_remove_restores_the_node(boots: tuple[Boot, Boot, Boot]) -> None:
    _, first, second = boots
    assert second.fact("remove.exit") == "0", second.facts["remove.log"]
    found, before = state(second, "removed"), state(first, "before")
    assert found.pop("record") == ["gone"]
    # Modules stay loaded until the node boots.
    assert {key: values for key, values in found.items() if not key.startswith("module.")} == {
        key: values for key, values in before.items() if not key.startswith("module.")
    }
    assert second.facts["remove-again.log"] == ["prepare-node: nothing to change"]


def test_the_doctor_sees_an_overlay_and_that_one_is_hidden(boots: tuple[Boot, Boot, Boot]) -> None:
    by_ignition, _, _ = boots
    good = parse_observed("\n".join(by_ignition.facts["collected"]), "the machine")
    assert good.has_overlay_mount
    assert good.usr_local_is_writable
    assert {"loop", "i2c_core", "ipmi_msghandler"} <= good.modules
    assert good.units["nvidia.service"] == "/dev/null"
    assert good.update_settings == {"SERVER": "disabled"}
    assert not good.update_is_staged

    assert by_ignition.fact("hidden.mount") == "active"
    hidden = parse_observed("\n".join(by_ignition.facts["hidden.collected"]), "the machine")
    assert hidden.has_overlay_mount
    assert not hidden.usr_local_is_writable
