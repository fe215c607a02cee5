"""A machine that first boots with what `flatcar-gpu ignition` emits is what the GPU Operator needs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.contract.emitted import emitted_ignition
from tests.vm.machine import Boot, Machine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.vm.system import Suite, System

pytestmark = pytest.mark.vm

PROBE = Path(__file__).with_name("gpu-node.sh")

# The unit that was recommended in 2021, when Flatcar had no system extensions.
UNIT_OF_2021 = """\
[Unit]
Description=Writable overlay on /usr/local
ConditionPathExists=/opt/usr-local-overlay
Before=local-fs.target

[Mount]
What=overlay
Where=/usr/local
Type=overlay
Options=lowerdir=/usr/local,upperdir=/opt/usr-local-overlay,workdir=/opt/usr-local-overlay.wd

[Install]
WantedBy=local-fs.target
"""


def with_the_unit_of_2021(config: bytes) -> bytes:
    """`config` with the mount unit of 2021 instead of ours, and without the drop-in that holds ours up."""
    tree = json.loads(config)
    units = {unit["name"]: unit for unit in tree["systemd"]["units"]}
    units["usr-local.mount"]["contents"] = UNIT_OF_2021
    del units["systemd-sysext.service"]
    tree["systemd"]["units"] = list(units.values())
    return json.dumps(tree).encode()


def prepared(debian: System, folder: Path, config: bytes) -> Machine:
    machine = Machine(debian, folder)
    machine.add_extension("first", {"share/vm-test/first": "from a system extension\n"})
    machine.ignite(config)
    return machine


@pytest.fixture(scope="module")
def machine(debian: System, machine_folder: Callable[[str], Path]) -> Iterator[Machine]:
    with prepared(debian, machine_folder("node"), emitted_ignition()) as machine:
        yield machine


@pytest.fixture(scope="module")
def node(machine: Machine, tell: Callable[[str, Boot], None]) -> Boot:
    boot = machine.boot(PROBE)
    tell(f"emitted unit: {usr_local(boot, 'boot')}; after a refresh {usr_local(boot, 'refresh')}", boot)
    return boot


@pytest.fixture(scope="module")
def rebooted(machine: Machine, node: Boot, tell: Callable[[str, Boot], None]) -> Boot:
    boot = machine.boot(PROBE)
    tell(f"emitted unit, booted again: {usr_local(boot, 'boot')}", boot)
    return boot


@pytest.fixture(scope="module")
def node_of_2021(debian: System, machine_folder: Callable[[str], Path], tell: Callable[[str, Boot], None]) -> Boot:
    with prepared(debian, machine_folder("2021"), with_the_unit_of_2021(emitted_ignition())) as machine:
        boot = machine.boot(PROBE)
    is_hidden = boot.fact("boot.usr-local-writable") == "no"
    why = ", hidden by the merge of system extensions" if is_hidden else ""
    tell(f"unit of 2021: {usr_local(boot, 'boot')}{why}", boot)
    return boot


def usr_local(boot: Boot, stage: str) -> str:
    state = "writable" if boot.fact(f"{stage}.usr-local-writable") == "yes" else "read-only"
    return f"usr-local.mount is {boot.fact(f'{stage}.unit')}, /usr/local is {state}"


def test_the_machine_runs_the_systemd_it_is_meant_to(node: Boot, suite: Suite) -> None:
    assert node.fact("systemd") == str(suite.systemd)


@pytest.mark.parametrize("stage", ["boot", "refresh", "restart"])
def test_usr_is_read_only(node: Boot, stage: str) -> None:
    assert node.fact(f"{stage}.usr-writable") == "no"
    assert all("ro" in options.split(",") for options in node.facts["usr-mount"])


def test_system_extensions_are_merged(node: Boot) -> None:
    assert node.facts["boot.extension"] == ["first"]
    assert node.facts["refresh.extension"] == ["first", "later"]
    assert node.facts["restart.extension"] == ["first", "later"]


@pytest.mark.parametrize("module", ["loop", "i2c_core", "ipmi_msghandler"])
def test_the_modules_are_loaded_or_built_in(node: Boot, module: str) -> None:
    assert node.fact(f"module.{module}") in ("loaded", "built in")


@pytest.mark.parametrize("stage", ["boot", "refresh", "restart"])
def test_usr_local_is_writable_after(stage: str, node: Boot) -> None:
    assert node.fact(f"{stage}.unit") == "active mounted"
    assert node.fact(f"{stage}.usr-local-writable") == "yes"
    assert node.fact(f"{stage}.in-upper-directory") == "written"


def test_presets_and_masks_are_applied(node: Boot) -> None:
    assert node.fact("enabled.usr-local.mount") == "enabled"
    assert node.fact("enabled.nvidia.service") == "masked"


def test_no_unit_fails_and_systemd_has_no_complaint(node: Boot) -> None:
    for key in ("boot.failed-unit", "refresh.failed-unit", "restart.failed-unit", "complaint", "failed-probe"):
        assert key not in node.facts, f"{key}: {node.facts[key]}, see {node.logs}"


def test_the_overlay_and_what_is_in_it_outlast_a_reboot(rebooted: Boot) -> None:
    assert rebooted.fact("boot.kept") == "written"
    assert rebooted.fact("boot.usr-local-writable") == "yes"
    assert rebooted.facts["boot.extension"] == ["first", "later"]


def test_the_unit_of_2021_is_hidden_by_the_merge_until_systemd_257(node_of_2021: Boot, suite: Suite) -> None:
    assert node_of_2021.fact("boot.unit") == "active mounted"
    assert node_of_2021.facts["boot.extension"] == ["first"]
    expected = "no" if suite.systemd < 257 else "yes"
    assert node_of_2021.fact("boot.usr-local-writable") == expected
    assert node_of_2021.fact("boot.in-upper-directory") == ("no" if expected == "no" else "written")
