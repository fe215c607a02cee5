"""Each concern of a node as a config of its own, for those who merge: people, ct_config, Typhoon.

`of_plan` makes them with the parameters of a plan, `written` the files of `butane/` with those of no options.
Maintainers write these anew with `make snippets`; a test fails while they differ from what the builders make.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from flatcar_gpu.node import CONCERNS, containerd, driver, modules, toolkit, updates, usr_local
from flatcar_gpu.node.yaml_text import butane_text
from flatcar_gpu.plan import resolve
from flatcar_gpu.spec import DriverSpec, Spec, Strategy, UpdatesSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flatcar_gpu.node.parts import ButaneParts
    from flatcar_gpu.plan import Plan


@dataclass(frozen=True, slots=True)
class Snippet:
    """A file: the concern, the spec whose part it shows in `butane/`, and what its readers must know."""

    name: str
    concern: Callable[[Plan], ButaneParts]
    comment: str
    spec: Spec = field(default_factory=Spec)

    def text(self, plan: Plan) -> bytes:
        return butane_text(self.concern(plan).as_config(), self.comment)


_SYSEXT = Spec(driver=DriverSpec(strategy=Strategy.SYSEXT))
_SERVICE = Spec(driver=DriverSpec(strategy=Strategy.SERVICE, version="570.195.03"))

SNIPPETS = (
    Snippet(
        "kernel-modules.bu",
        modules.kernel_modules,
        "Kernel modules of a GPU node: loop lets the driver container mount Flatcar's developer image,\n"
        "i2c_core and ipmi_msghandler are dependencies of the NVIDIA module.",
    ),
    Snippet(
        "usr-local-overlay.bu",
        usr_local.usr_local_overlay,
        "A writable /usr/local, where the GPU Operator installs its container toolkit by default.\n"
        "The drop-in keeps the overlay alive when system extensions are merged anew.",
    ),
    Snippet(
        "containerd-gpu-operator.bu",
        containerd.containerd_config,
        "containerd reads a config that imports Flatcar's own and the drop-ins of the operator's toolkit.",
    ),
    Snippet(
        "mask-nvidia-service.bu",
        driver.driver_settings,
        "With a driver container Flatcar's nvidia.service must not build a second driver on the node.",
    ),
    Snippet(
        "nvidia-driver-sysext.bu",
        driver.driver_settings,
        "The driver as Flatcar's system extension: amd64, releases from 4344.0.0 on, no LTS.\n"
        "A name that does not exist for the release stops the boot.",
        _SYSEXT,
    ),
    Snippet(
        "nvidia-driver-service.bu",
        driver.driver_settings,
        "nvidia.service builds this driver on the node instead of the release's default one.",
        _SERVICE,
    ),
    Snippet(
        "nvidia-runtime-sysext.bu",
        toolkit.runtime_sysext,
        "The container toolkit as Flatcar's system extension. Checksums for verification.hash are in\n"
        "https://extensions.flatcar.org/extensions/nvidia-runtime/SHA256SUMS.",
        _SYSEXT,
    ),
    Snippet(
        "hold-updates.bu",
        updates.held_updates,
        "The node stays on its release until `flatcar-update` moves it.",
        Spec(updates=UpdatesSpec(hold=True)),
    ),
)


def written() -> Iterator[tuple[str, bytes]]:
    """Name and contents of every file of `butane/`."""
    for snippet in SNIPPETS:
        yield snippet.name, snippet.text(resolve(snippet.spec))


def of_plan(plan: Plan) -> Iterator[tuple[str, bytes]]:
    """Name and contents of a snippet for every concern that puts something on the plan's nodes."""
    for concern in CONCERNS:
        if concern(plan).as_config().keys() & {"storage", "systemd"}:
            snippet = _shown_by(concern, plan)
            yield snippet.name, snippet.text(plan)


def _shown_by(concern: Callable[[Plan], ButaneParts], plan: Plan) -> Snippet:
    """The snippet of a concern; where it has one for each strategy, that of the plan's."""
    snippets = [snippet for snippet in SNIPPETS if snippet.concern is concern]
    if len(snippets) == 1:
        return snippets[0]
    return next(snippet for snippet in snippets if snippet.spec.driver.strategy is plan.strategy)


if __name__ == "__main__":
    folder = Path(__file__).parents[2] / "butane"
    for name, data in written():
        (folder / name).write_bytes(data)
