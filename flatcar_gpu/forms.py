"""What texts must look like, each form declared once with the words for what is expected."""

from __future__ import annotations

import re
from dataclasses import dataclass

from flatcar_gpu.platforms import PLATFORMS


@dataclass(frozen=True, slots=True)
class Form:
    """What a text must look like, and how to say so."""

    pattern: str
    expected: str

    def fits(self, text: str) -> bool:
        return re.fullmatch(self.pattern, text) is not None


PATH = Form(
    r"/|(/(?!\.{1,2}(/|$))[A-Za-z0-9._@+-]+)+", "an absolute path without `.`, `..`, `//`, blanks or a `/` at its end"
)
RELEASE = Form(r"\d+\.\d+\.\d+|[a-z]+(-\d{4})?", "a Flatcar version such as 4593.2.5 or a channel such as stable")
PLATFORM = Form("|".join(PLATFORMS), f"one of {', '.join(PLATFORMS)}")
DRIVER_VERSION = Form(r"\d{3,}(\.\d{1,3}){0,2}", "a driver version such as 570.195.03, or a branch such as 570")
MODULE = Form(r"[A-Za-z0-9_-]+", "the name of a kernel module")
SYSEXT_NAME = Form(r"[a-z0-9][a-z0-9-]*", "the name of a Flatcar extension such as nvidia-drivers-570-open")
RUNTIME_VERSION = Form(r"v?\d+\.\d+\.\d+", "a version such as v1.18.1")
HASH = Form(r"sha256-[0-9a-f]{64}|sha512-[0-9a-f]{128}", "sha256- and 64, or sha512- and 128 hexadecimal digits")
URL = Form(r"https?://[^\s/]+/\S*", "an http or https URL")
REPOSITORY = Form(
    r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d+)?(/[a-z0-9]+([._-]+[a-z0-9]+)*)*",
    "a registry and path such as registry.example.com/nvidia, without the image's name",
)
IMAGE = Form(r"[a-z0-9]+([._-]+[a-z0-9]+)*", "the image's name such as driver, without repository and tag")
DIGEST = Form(r"sha256:[0-9a-f]{64}", "sha256: and 64 hexadecimal digits")
OBJECT_NAME = Form(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?", "the name of a Kubernetes object")
CHART_VERSION = Form(r"v?\d+\.\d+\.\d+", "a version of the gpu-operator chart such as v26.7.0")
TAINT = Form(
    r"[A-Za-z0-9]([A-Za-z0-9./_-]*[A-Za-z0-9])?(=[A-Za-z0-9._-]*)?(:(NoSchedule|PreferNoSchedule|NoExecute))?",
    "a taint: KEY, KEY:EFFECT or KEY=VALUE:EFFECT, the effect being NoSchedule, PreferNoSchedule or NoExecute",
)
