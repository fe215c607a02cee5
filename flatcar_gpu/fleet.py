"""A fleet: the pools of a cluster with their plans, and the one plan of the operator that serves them all."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from flatcar_gpu.helm.driver_resources import DriverPool
from flatcar_gpu.plan import Toleration, resolve
from flatcar_gpu.spec import Strategy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from flatcar_gpu.flatcar.index import Release
    from flatcar_gpu.plan import Plan
    from flatcar_gpu.spec_file import Loaded

# The pool of a spec that has none.
ONLY_POOL = "gpu"


@dataclass(frozen=True, slots=True)
class PoolPlan:
    """The plan of a pool's nodes, and what Kubernetes is to know of them. `key` is the pool's in the spec file."""

    name: str
    key: str
    plan: Plan
    labels: Mapping[str, str] = field(default_factory=dict)
    tolerations: tuple[Toleration, ...] = ()


@dataclass(frozen=True, slots=True)
class Fleet:
    """The pools, and the plan that the operator's values are made from."""

    pools: tuple[PoolPlan, ...]
    cluster: Plan

    @property
    def with_driver_container(self) -> tuple[PoolPlan, ...]:
        return tuple(pool for pool in self.pools if pool.plan.strategy is Strategy.CONTAINER)


def plan_fleet(loaded: Loaded, release_of: Callable[[str], Release]) -> Fleet:
    """Plan every pool of a spec; `release_of` finds the release of a version or channel."""
    found: dict[str | None, Release | None] = {None: None}

    def release(name: str | None) -> Release | None:
        if name not in found and name is not None:
            found[name] = release_of(name)
        return found[name]

    pools = tuple(
        PoolPlan(
            pool.name,
            pool.source.pool,
            resolve(pool.spec, release(pool.spec.flatcar)),
            pool.labels,
            tuple(Toleration.parse(taint) for taint in pool.taints),
        )
        for pool in loaded.pools
    ) or (PoolPlan(ONLY_POOL, "", resolve(loaded.spec, release(loaded.spec.flatcar))),)
    return Fleet(pools, _cluster(pools))


def _cluster(pools: tuple[PoolPlan, ...]) -> Plan:
    """The plan of a pool that the operator brings a driver to, if there is one, tolerating the taints of all pools."""
    chosen = next((pool.plan for pool in pools if pool.plan.strategy is Strategy.CONTAINER), pools[0].plan)
    taints = (taint for pool in pools for taint in pool.tolerations)
    tolerations = tuple(dict.fromkeys((*chosen.operator.tolerations, *taints)))
    return replace(chosen, operator=replace(chosen.operator, tolerations=tolerations))


def driver_pools(fleet: Fleet) -> Iterator[DriverPool]:
    """The pools that the operator brings a driver to, as its NVIDIADriver resources see them."""
    for pool in fleet.with_driver_container:
        if pool.plan.driver_image is not None:
            # A channel moves on to its next release; only a version that was named is certain.
            is_certain = pool.plan.spec.flatcar == pool.plan.release_name
            tolerations = tuple(dict.fromkeys((*pool.plan.operator.tolerations, *pool.tolerations)))
            release = pool.plan.release_name if is_certain else None
            yield DriverPool(pool.name, pool.plan.driver_image, pool.labels, release, tolerations)
