"""Rules about live nodes: what runs must be what the options ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flatcar_gpu.chart import VALIDATOR_LOOKS_IN_OPT_BIN
from flatcar_gpu.node.containerd import CONFIG_PATH
from flatcar_gpu.report import Severity
from flatcar_gpu.rules.registry import Finding, Subject, rule
from flatcar_gpu.rules.toolkit import USR_IS_READ_ONLY
from flatcar_gpu.spec import Strategy, Toolkit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flatcar_gpu.doctor.inspection import Inspection

_PREPARE = "provision the node anew with what `flatcar-gpu ignition` writes, or run `flatcar-gpu node-prep` on it"


@rule(
    "FG501",
    "a kernel module is missing",
    subject=Subject.LIVE_NODE,
    why="The driver container mounts Flatcar's developer image through loop; i2c_core and ipmi_msghandler are "
    "dependencies of the NVIDIA module.",
    source="README of gpu-driver-container's flatcar folder; kernel configs of Flatcar",
    remedy=f"load it with modprobe; for every boot {_PREPARE}",
)
def modules_are_there(inspection: Inspection) -> Iterator[Finding]:
    for module in inspection.plan.modules:
        if module.replace("-", "_") not in inspection.node.modules:
            yield Finding("kernel", f"{module} is neither loaded nor built in")


@rule(
    "FG502",
    "/usr/local is not writable",
    subject=Subject.LIVE_NODE,
    why="The operator's toolkit cannot be installed there. The mount unit may be active all the same: a merge of "
    "system extensions hides what was mounted below /usr before it.",
    source=f"{USR_IS_READ_ONLY}; systemd/systemd#31922; `make vm-test` on systemd 252",
    remedy=_PREPARE,
)
def overlay_is_visible(inspection: Inspection) -> Iterator[Finding]:
    node = inspection.node
    if inspection.plan.overlay is None or node.usr_local_is_writable:
        return
    if node.has_overlay_mount:
        yield Finding(
            "/usr/local",
            "the overlay is mounted, but hidden by a later merge of system extensions",
            remedy="let the mount come after systemd-sysext.service, as the unit of `flatcar-gpu ignition` does",
        )
    elif "usr-local.mount" in node.units:
        yield Finding(
            "/usr/local",
            "usr-local.mount is there, but nothing is mounted",
            remedy="systemctl status usr-local.mount says why: it is passed over where its upper directory is missing",
        )
    else:
        yield Finding("/usr/local", "it is read-only and there is no usr-local.mount")


@rule(
    "FG503",
    "containerd does not read the toolkit's configuration",
    subject=Subject.LIVE_NODE,
    why="Flatcar's containerd reads /usr/share/containerd/config.toml, which imports nothing. What the toolkit writes "
    'below /etc/containerd is then never read, and pods fail with `no runtime for "nvidia" is configured`.',
    source="flatcar/scripts containerd.service; nvidia-container-toolkit v1.20.0",
    remedy=_PREPARE,
)
def containerd_reads_our_config(inspection: Inspection) -> Iterator[Finding]:
    config = inspection.node.containerd_config
    if inspection.plan.toolkit is not Toolkit.OPERATOR or inspection.plan.operator.nri or config == CONFIG_PATH:
        return
    if config:
        yield Finding("containerd", f"it was started with {config} instead of {CONFIG_PATH}")
    else:
        yield Finding("containerd", "it does not run", remedy="systemctl status containerd.service says why")


@rule(
    "FG504",
    "containerd has no runtime of the runtime class",
    severity=Severity.WARNING,
    subject=Subject.LIVE_NODE,
    why="Pods with the runtime class fail until containerd knows a runtime of that name. The operator's toolkit adds "
    "it when its pod runs, so on a new node it is missing at first.",
    source="gpu-operator, where operator.runtimeClass is the handler's name; flatcar/sysext-bakery nvidia-runtime",
    remedy="look at the log of the toolkit's pod, or of the nvidia-runtime extension's units",
)
def runtime_is_known(inspection: Inspection) -> Iterator[Finding]:
    plan, node = inspection.plan, inspection.node
    name = plan.operator.runtime_class
    if plan.toolkit is Toolkit.NONE or plan.operator.nri or name in node.runtimes or not node.containerd_config:
        return
    known = ", ".join(sorted(node.runtimes)) or "none"
    yield Finding("containerd", f"no runtime {name!r} in {node.containerd_config} and what it imports, but: {known}")


@rule(
    "FG505",
    "nvidia-smi is where the operator does not look",
    subject=Subject.LIVE_NODE,
    why="The validator takes a driver for the host's by /usr/bin/nvidia-smi, from chart v26.7.0 on also by "
    "/opt/bin/nvidia-smi. Else it waits forever for a driver container.",
    source=VALIDATOR_LOOKS_IN_OPT_BIN.source,
    remedy="use chart v26.7.0 or later, or an nvidia-runtime extension from v1.17.5 on, which brings "
    "/usr/bin/nvidia-smi (inferred from sysext-bakery#153)",
)
def host_driver_is_found(inspection: Inspection) -> Iterator[Finding]:
    plan = inspection.plan
    if plan.strategy not in (Strategy.SYSEXT, Strategy.SERVICE):
        return
    on_host = [path for path in inspection.node.lines("nvidia-smi") if path in ("/usr/bin/nvidia-smi", _OPT_BIN)]
    if not on_host:
        yield Finding("nvidia-smi", "there is none: the driver is not installed", remedy=_LOOK_AT_SERVICE)
    elif on_host == [_OPT_BIN] and not VALIDATOR_LOOKS_IN_OPT_BIN.holds(plan.operator.chart):
        yield Finding("nvidia-smi", f"it is in /opt/bin alone, where chart {plan.operator.chart} does not look")


_OPT_BIN = "/opt/bin/nvidia-smi"
_LOOK_AT_SERVICE = "journalctl -u nvidia.service has the reason; an extension is fetched when the node boots"


@rule(
    "FG506",
    "a driver on the host beside the driver container",
    subject=Subject.LIVE_NODE,
    why="Where nvidia-smi runs on the host, k8s-driver-manager labels the node pre-installed and ends the driver pod.",
    source="k8s-driver-manager; gpu-operator cmd/nvidia-validator",
    remedy="take the host's driver away (the extension, or what nvidia.service built) and boot, or choose --driver "
    "sysext or service",
)
def no_driver_beside_the_container(inspection: Inspection) -> Iterator[Finding]:
    if inspection.plan.strategy is Strategy.CONTAINER:
        for path in inspection.node.lines("nvidia-smi"):
            if path in ("/usr/bin/nvidia-smi", _OPT_BIN):
                yield Finding("nvidia-smi", f"{path} is on the host, and the driver comes in a container")


@rule(
    "FG507",
    "nvidia.service is masked, or is not",
    subject=Subject.LIVE_NODE,
    why="Unmasked, it builds a driver beside the container's (since 3637.0.0). Masked, nothing loads the modules of "
    "Flatcar's own driver.",
    source="flatcar/scripts setup-nvidia",
    remedy="systemctl mask nvidia.service for --driver container, else systemctl unmask nvidia.service",
)
def nvidia_service_is_masked(inspection: Inspection) -> Iterator[Finding]:
    is_masked = inspection.node.units.get("nvidia.service") == "/dev/null"
    strategy = inspection.plan.strategy
    if strategy is Strategy.CONTAINER and not is_masked:
        yield Finding("nvidia.service", "it is not masked, and the driver comes in a container")
    if strategy in (Strategy.SYSEXT, Strategy.SERVICE) and is_masked:
        yield Finding("nvidia.service", f"it is masked, and --driver {strategy} needs it")


@rule(
    "FG508",
    "updates are not held",
    subject=Subject.LIVE_NODE,
    why="The node moves to the next release by itself, for which there may be no driver image.",
    source="Flatcar documentation, update strategies",
    remedy="write SERVER=disabled to /etc/flatcar/update.conf",
)
def updates_are_held(inspection: Inspection) -> Iterator[Finding]:
    server = inspection.node.update_settings.get("SERVER", "")
    if inspection.plan.holds_updates and server != "disabled":
        yield Finding("update.conf", f"SERVER is {server or 'the default'}, not disabled")


@rule(
    "FG509",
    "an update is staged",
    severity=Severity.WARNING,
    subject=Subject.LIVE_NODE,
    why="The node is on another release after its next boot, whatever update.conf says by then, and the operator asks "
    "for another driver image.",
    source="/run/reboot-required, since Flatcar 3115.0.0; Flatcar documentation, update strategies",
    remedy="make sure that the image for the next release exists before the node boots: flatcar-gpu image check",
)
def no_update_is_staged(inspection: Inspection) -> Iterator[Finding]:
    if inspection.node.update_is_staged:
        yield Finding("update-engine", "another release becomes active at the next boot")


@rule(
    "FG510",
    "the node is on another release",
    subject=Subject.LIVE_NODE,
    why="Driver image, extensions and what else was chosen for one release do not fit another.",
    source="gpu-operator: the driver's tag ends in the VERSION_ID of os-release",
    remedy="give the node's release with --flatcar, or move the node with flatcar-update --to-version",
)
def release_is_the_planned_one(inspection: Inspection) -> Iterator[Finding]:
    planned, found = inspection.plan.release_name, str(inspection.node.os_release.version)
    if planned and planned != found:
        yield Finding("os-release", f"the node has {found}, --flatcar is {planned}")
