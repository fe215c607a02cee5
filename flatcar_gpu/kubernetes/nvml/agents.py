"""What is known of agents, by their images: who Kepler is, and who cannot use a copied library or needs none."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flatcar_gpu.kubernetes.nvml.pattern import Tree


@dataclass(frozen=True, slots=True)
class Finding:
    """What to tell about an agent whose image fits `image` (a pattern on the whole reference)."""

    image: str
    says: str
    hint: str
    source: str


_RUNTIME_CLASS = "use --no-copy --runtime-class nvidia, on GPU nodes only (--gpu-nodes-only)"

FINDINGS = (
    Finding(
        r"[^@]*:[^@/]*(alpine|musl)",
        "the image looks like Alpine by its tag; NVML is linked to glibc and does not load under musl",
        "use an image of the agent that is built on glibc",
        source="netdata#4736",
    ),
    Finding(
        r"(.*/)?(telegraf|netdata)([:@]|$)",
        "this agent runs the program nvidia-smi, which the copied library does not bring",
        _RUNTIME_CLASS,
        source="telegraf#4388, netdata#4736: their nvidia_smi plugins",
    ),
    Finding(
        r"(.*/)?nvidia_gpu_exporter([:@]|$)",
        "unless it is the NVML build, this agent runs the program nvidia-smi, which the copied library does not bring",
        _RUNTIME_CLASS,
        source="nvidia_gpu_exporter#146, #105",
    ),
    Finding(
        r"(.*/)?dcgm-exporter([:@]|$)",
        "profiling metrics of dcgm-exporter need more libraries than NVML",
        _RUNTIME_CLASS,
        source="dcgm-exporter#612, #530",
    ),
    Finding(
        r"(.*/)?(coroot-node-agent|k8s-device-plugin|node-problem-detector|scaphandre)([:@]|$)",
        "this agent finds the library on the host by itself, or does not use it: the copy is not needed",
        "",
        source="their code: fixed host paths, nvidiaDriverRoot, or no NVML at all",
    ),
    Finding(
        r"(.*/)?gpud([:@]|$)",
        "gpud has its own way to the driver: gpud.mountNVIDIADriverRoot in its chart",
        "",
        source="gpud chart",
    ),
)


def is_kepler(container: Tree) -> bool:
    """Whether a container runs Kepler, by the last part of its image or, without one, by its name."""
    image = container.get("image")
    if isinstance(image, str) and image:
        return re.split(r"[:@]", image.rpartition("/")[2])[0] == "kepler"
    return container.get("name") == "kepler"


def findings(image: Any) -> list[Finding]:
    """What is known of the agent in `image`."""
    return [finding for finding in FINDINGS if isinstance(image, str) and re.match(finding.image, image)]
