"""Adding NVML to one workload of a long stream of manifests, beside reading that stream and nothing else."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

import yaml

from flatcar_gpu.kubernetes.nvml.pattern import Options
from flatcar_gpu.kubernetes.nvml.post_render import post_render
from flatcar_gpu.kubernetes.nvml.selection import Selector
from tests.manifests import KEPLER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DOCUMENTS = 5_000
OTHER = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\ndata: {agent: kepler}\n"


def measure() -> Iterator[str]:
    stream = OTHER * DOCUMENTS + "---\n" + KEPLER
    ours = _seconds(lambda: post_render(stream.encode(), "stream", Selector("kepler"), Options()))
    reading = _seconds(lambda: list(yaml.load_all(stream, yaml.CSafeLoader)))
    faster = reading / ours
    yield f"post-render beside {DOCUMENTS} other documents: {ours:.3f} s, {faster:.1f} times as fast as to load them all"


def _seconds(work: Callable[[], object]) -> float:
    def once() -> float:
        began = perf_counter()
        work()
        return perf_counter() - began

    return min(once() for _ in range(3))
