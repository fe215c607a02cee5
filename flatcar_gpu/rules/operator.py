"""Rules about what the operator is told and the node it is told of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flatcar_gpu.chart import CDI_IS_DEFAULT, TOOLKIT_DUMPS_CONTAINERD_CONFIG, VALIDATOR_LOOKS_IN_OPT_BIN
from flatcar_gpu.plan import version_numbers
from flatcar_gpu.report import Severity
from flatcar_gpu.rules.registry import Finding, Subject, rule
from flatcar_gpu.settings import settings
from flatcar_gpu.spec import DriverSpec, OperatorSpec, Scope, Strategy, Toolkit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flatcar_gpu.plan import Plan


@rule(
    "FG331",
    "no driver version",
    subject=Subject.OPERATOR,
    why="Each chart has a default version of its own, so the next upgrade of the chart would ask for images that "
    "nobody has built.",
    source="values.yaml of the chart's tags, driver.version",
    remedy="give --driver-version, or the image's --digest",
)
def driver_image_has_a_version(plan: Plan) -> Iterator[Finding]:
    image = plan.driver_image
    if image is not None and image.version is None and image.digest is None:
        yield Finding("driver.version", "which driver the driver container brings is not said")


@rule(
    "FG332",
    "a runtime class that the nvidia-runtime extension does not define",
    subject=Subject.OPERATOR,
    why="A runtime class names a runtime of containerd, and the extension's configuration has one, nvidia. Pods fail "
    "with `no runtime for ... is configured`.",
    source="flatcar/sysext-bakery nvidia-runtime, config-nvidia.toml; gpu-operator assets",
    remedy="leave --runtime-class out with --toolkit sysext",
)
def runtime_class_is_defined(plan: Plan) -> Iterator[Finding]:
    name = plan.operator.runtime_class
    if plan.toolkit is Toolkit.SYSEXT and name != OperatorSpec().runtime_class:
        yield Finding("operator.runtimeClass", f"the nvidia-runtime extension defines no runtime {name}")


@rule(
    "FG333",
    "the validator does not find nvidia-smi",
    subject=Subject.OPERATOR,
    why="nvidia.service puts nvidia-smi into /opt/bin, where the validator looks only in later charts; it then waits "
    "for a driver container for ever. The nvidia-runtime extension adds /usr/bin/nvidia-smi.",
    source="gpu-operator cmd/nvidia-validator, 73defbda; flatcar/sysext-bakery#153",
    remedy=f"use --chart-version {VALIDATOR_LOOKS_IN_OPT_BIN.since} or later, or --toolkit sysext",
)
def validator_finds_the_driver(plan: Plan) -> Iterator[Finding]:
    if plan.strategy is not Strategy.SERVICE or VALIDATOR_LOOKS_IN_OPT_BIN.holds(plan.operator.chart):
        return
    extension = plan.runtime_sysext
    if extension is None or version_numbers(extension.version) < (1, 17):
        yield Finding(
            "operator.chartVersion", f"the validator of chart {plan.operator.chart} does not look in /opt/bin"
        )


@rule(
    "FG334",
    "the toolkit's configuration of containerd does not take effect",
    subject=Subject.OPERATOR,
    why="Older toolkits write only the nvidia runtime. In the file that containerd starts with, Flatcar's imported CRI "
    "section takes its place; in an imported file it replaces that section, and with it SystemdCgroup.",
    source="containerd 1.6.20, `containerd config dump`; nvidia-container-toolkit before 1.17 (inferred)",
    remedy=f"use --chart-version {TOOLKIT_DUMPS_CONTAINERD_CONFIG.since} or later",
)
def toolkit_configures_containerd(plan: Plan) -> Iterator[Finding]:
    chart = plan.operator.chart
    if plan.toolkit is Toolkit.OPERATOR and not TOOLKIT_DUMPS_CONTAINERD_CONFIG.holds(chart):
        yield Finding("operator.chartVersion", f"the toolkit of chart {chart} cannot extend Flatcar's configuration")


@rule(
    "FG335",
    "an operator setting has no effect",
    severity=Severity.WARNING,
    subject=Subject.OPERATOR,
    why="The setting belongs to another strategy, so the values are made without it.",
    source="how flatcar-gpu makes values",
    remedy="leave the setting out, or choose the strategy that it belongs to",
)
def operator_settings_have_effect(plan: Plan) -> Iterator[Finding]:
    if plan.driver_image is None:
        for key, setting in settings().items():
            is_images = setting.attributes[0] == "driver" and setting.scope is Scope.OPERATOR
            if is_images and setting.value_in(plan.spec) != getattr(DriverSpec(), setting.attributes[-1]):
                yield Finding(key, f"it is only for a driver container, not for the strategy {plan.strategy}")
        if plan.operator.nvidia_driver_crd:
            yield Finding("operator.nvidiaDriverCRD", f"the strategy {plan.strategy} has no NVIDIADriver resources")
    if plan.operator.nri and plan.operator.runtime_class != OperatorSpec().runtime_class:
        yield Finding("operator.runtimeClass", "the operator makes no runtime class with NRI")


@rule(
    "FG336",
    "NRI with a containerd that has it switched off",
    subject=Subject.OPERATOR,
    why="The operator's NRI plugin needs NRI in containerd, which is on by default since containerd 2.0; without it "
    "pods get no GPU.",
    source="containerd 2.0.0 release notes, #9744; Flatcar's release index (that both go together is inferred)",
    remedy="use --flatcar 4459.2.0 or later, or leave --nri out",
)
def containerd_has_nri(plan: Plan) -> Iterator[Finding]:
    if plan.operator.nri and _has_containerd_1(plan):
        yield Finding("operator.nri", f"Flatcar {plan.release_name} has containerd 1")


@rule(
    "FG337",
    "device requests that containerd 1 does not understand",
    severity=Severity.WARNING,
    subject=Subject.OPERATOR,
    why="Charts from v25.10.0 on hand GPUs out as CDI devices. Flatcar's nvidia-runtime extension does not switch CDI "
    "on, and containerd does so by itself since 2.0 only (inferred, not run on a node).",
    source="flatcar/sysext-bakery nvidia-runtime, config-nvidia.toml; values.yaml of the charts, cdi.enabled",
    remedy="use --flatcar 4459.2.0 or later, or a chart before v25.10.0",
)
def containerd_knows_cdi(plan: Plan) -> Iterator[Finding]:
    if plan.toolkit is Toolkit.SYSEXT and CDI_IS_DEFAULT.holds(plan.operator.chart) and _has_containerd_1(plan):
        chart = plan.operator.chart
        yield Finding(
            "operator.chartVersion", f"chart {chart} asks for CDI devices, {plan.release_name} has containerd 1"
        )


def _has_containerd_1(plan: Plan) -> bool:
    return plan.known is not None and plan.known.containerd_major.value == 1
