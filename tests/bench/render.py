"""Node configs rendered from one spec in one process."""

from __future__ import annotations

import time
import tracemalloc
from typing import TYPE_CHECKING

from flatcar_gpu.flatcar.index import Release
from flatcar_gpu.flatcar.version import Version
from flatcar_gpu.fleet import plan_fleet
from flatcar_gpu.render import assemble_pools, render
from flatcar_gpu.rules.checks import check_fleet
from flatcar_gpu.settings import with_values
from flatcar_gpu.spec import Spec
from flatcar_gpu.spec_file import Loaded, Pool, SpecSource

if TYPE_CHECKING:
    from collections.abc import Iterator

POOLS = 10_000
COMMON = {
    "driver.repository": "registry.example.com/nvidia",
    "driver.version": "580.126.09",
    "toolkit.installDir": "/opt/nvidia",
    "updates.hold": True,
    "operator.nvidiaDriverCRD": True,
}


def _loaded(different: int) -> Loaded:
    """A spec with POOLS pools, of which `different` differ in more than name and labels."""
    base = with_values(Spec(), COMMON)
    specs = [with_values(base, {"modules": (f"module_{number}",)}) for number in range(different)]
    pools = tuple(
        Pool(f"pool-{number}", specs[number % different], SpecSource(), {"pool": f"pool-{number}"})
        for number in range(POOLS)
    )
    return Loaded(base, SpecSource(), pools)


def _release(_: str) -> Release:
    return Release(Version.parse("4593.2.5"), "stable", None, "6.12.102", None, "2.1.5", "257", "2.24.0", ("amd64",))


def measure() -> Iterator[str]:
    for different in (20, POOLS):
        loaded = _loaded(different)
        start = time.perf_counter()
        fleet = plan_fleet(loaded, _release)
        nodes = assemble_pools(fleet)
        report = check_fleet(fleet, nodes, loaded)
        rendered = render(fleet, loaded.spec, nodes)
        seconds = time.perf_counter() - start
        assert not report.has_errors, report.as_text()
        size = sum(map(len, rendered.files.values()))
        speed = f"{seconds:5.1f} s, {POOLS / seconds:7,.0f} nodes a second, {size / 1e6:.0f} MB of files"
        yield f"{POOLS:,} pools, {different:,} of them different: {speed}"
    tracemalloc.start()
    loaded = _loaded(20)
    fleet = plan_fleet(loaded, _release)
    render(fleet, loaded.spec, assemble_pools(fleet))
    yield f"peak memory with 20 different: {tracemalloc.get_traced_memory()[1] / 1e6:.0f} MB"
