"""Rules about pools that share a cluster, and so one operator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flatcar_gpu.fleet import driver_pools
from flatcar_gpu.helm.driver_resources import conflicts
from flatcar_gpu.rules.registry import Finding, Subject, rule
from flatcar_gpu.spec import Strategy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flatcar_gpu.fleet import Fleet, PoolPlan


def _unlike_the_first(fleet: Fleet, of: Callable[[PoolPlan], Any]) -> Iterator[tuple[PoolPlan, PoolPlan]]:
    """Every pool that differs in something from the first pool, with that one."""
    first = fleet.pools[0]
    for pool in fleet.pools[1:]:
        if of(pool) != of(first):
            yield pool, first


def _at(pool: PoolPlan, key: str) -> str:
    return f"{pool.key}.{key}" if pool.key else key


@rule(
    "FG601",
    "pools with different container toolkits",
    subject=Subject.FLEET,
    why="The operator has one value for the toolkit and its directory, for all nodes of the cluster.",
    source="gpu-operator values.yaml: toolkit.enabled, toolkit.installDir",
    remedy="give all pools of a cluster the same toolkit and install directory",
)
def pools_share_the_toolkit(fleet: Fleet) -> Iterator[Finding]:
    for pool, first in _unlike_the_first(fleet, lambda pool: pool.plan.toolkit):
        says = f"the toolkit of {pool.name} is {pool.plan.toolkit}, that of {first.name} {first.plan.toolkit}"
        yield Finding(_at(pool, "toolkit.provider"), says)
    for pool, first in _unlike_the_first(fleet, lambda pool: pool.plan.install_dir):
        if pool.plan.toolkit is first.plan.toolkit:
            says = (
                f"the toolkit of {pool.name} is in {pool.plan.install_dir}, {first.name}'s in {first.plan.install_dir}"
            )
            yield Finding(_at(pool, "toolkit.installDir"), says)


@rule(
    "FG602",
    "pools with different drivers and one policy for all",
    subject=Subject.FLEET,
    why="Without NVIDIADriver resources the operator installs one driver on every node with a GPU, also on those that "
    "have one already.",
    source="gpu-operator api/nvidia/v1/clusterpolicy_types.go, driver",
    remedy="set operator.nvidiaDriverCRD: true and give each pool labels of its own",
)
def one_policy_has_one_driver(fleet: Fleet) -> Iterator[Finding]:
    if fleet.cluster.operator.nvidia_driver_crd:
        return
    for pool, first in _unlike_the_first(fleet, lambda pool: pool.plan.strategy is Strategy.CONTAINER):
        says = f"{pool.name} has its driver from {pool.plan.strategy}, {first.name} from {first.plan.strategy}"
        yield Finding(_at(pool, "driver.strategy"), says)
    for pool, first in _unlike_the_first(fleet, lambda pool: pool.plan.driver_image):
        if pool.plan.driver_image and first.plan.driver_image:
            yield Finding(_at(pool, "driver"), f"{pool.name} and {first.name} have different driver images")


@rule(
    "FG603",
    "pools on different releases and one policy for all",
    subject=Subject.FLEET,
    why="Without NVIDIADriver resources the operator gives all nodes the tag of whichever GPU node it lists first, so "
    "that the others get an image for another release.",
    source="gpu-operator controllers/state_manager.go, getGPUNodeOSInfo (v26.3 and later), kernelFullVersion before",
    remedy="set operator.nvidiaDriverCRD: true, or keep all pools on one release",
)
def one_policy_has_one_tag(fleet: Fleet) -> Iterator[Finding]:
    if fleet.cluster.operator.nvidia_driver_crd:
        return
    pools = [pool for pool in fleet.with_driver_container if pool.plan.release]
    for pool in pools[1:]:
        image = pool.plan.driver_image
        if pool.plan.release_name != pools[0].plan.release_name and not (image and image.digest):
            says = f"{pool.name} runs Flatcar {pool.plan.release_name}, {pools[0].name} {pools[0].plan.release_name}"
            yield Finding(_at(pool, "flatcar"), says)


@rule(
    "FG604",
    "pools whose drivers select the same nodes",
    subject=Subject.FLEET,
    why="A node that two NVIDIADriver resources select gets no driver; one whose driver comes with the node would get "
    "a second one.",
    source="gpu-operator internal/state/nodepool.go; NVIDIADriver CRD, nodeSelector",
    remedy="give the nodes of each pool a label of its own, e.g. labels: {pool: NAME}",
)
def driver_pools_are_apart(fleet: Fleet) -> Iterator[Finding]:
    if not fleet.cluster.operator.nvidia_driver_crd:
        return
    pools = {pool.name: pool for pool in fleet.pools}
    for problem in conflicts(driver_pools(fleet)):
        yield Finding(_at(pools[problem.path], "labels"), problem.message)
    if len(fleet.with_driver_container) < len(fleet.pools):
        for pool in fleet.with_driver_container:
            if not pool.labels:
                yield Finding(_at(pool, "labels"), f"the driver of {pool.name} selects the nodes of every pool")
