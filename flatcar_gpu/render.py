"""Everything that a spec is made into, as files: a folder for each pool, and what the cluster gets."""

from __future__ import annotations

from dataclasses import dataclass
from string import Template
from typing import TYPE_CHECKING

from flatcar_gpu.assembly import assemble
from flatcar_gpu.fleet import driver_pools
from flatcar_gpu.helm.driver_resources import resources_text
from flatcar_gpu.helm.operator_values import values_text
from flatcar_gpu.kubernetes.nvml import kepler
from flatcar_gpu.kubernetes.nvml.driver_root import driver_root_of
from flatcar_gpu.kubernetes.nvml.pattern import Options
from flatcar_gpu.node.yaml_text import butane_text
from flatcar_gpu.report import Report
from flatcar_gpu.resources import data_text
from flatcar_gpu.transpile import encode

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from flatcar_gpu.assembly import Node
    from flatcar_gpu.fleet import Fleet, PoolPlan
    from flatcar_gpu.spec import Spec

Files = dict[str, bytes]


@dataclass(slots=True)
class Rendered:
    """The files by their path below the output folder, and what has to be said of them."""

    files: Files
    report: Report


def render(fleet: Fleet, spec: Spec, nodes: Mapping[str, Node]) -> Rendered:
    """All files of a fleet. `nodes` are its pools' assembled nodes by name."""
    report = Report()
    files: Files = {}
    made: dict[int, tuple[bytes, bytes]] = {}
    for pool in fleet.pools:
        node = nodes[pool.name]
        # Pools that differ only by name or labels share their node.
        if id(node) not in made:
            made[id(node)] = butane_text(node.butane), encode(node.ignition)
        files[f"{pool.name}/node.bu"], files[f"{pool.name}/node.ign"] = made[id(node)]
    files["values.yaml"] = values_text(fleet.cluster)
    if fleet.cluster.operator.nvidia_driver_crd:
        comment = "To apply once the chart is installed, which brings the CRD."
        files["nvidiadrivers.yaml"] = resources_text(driver_pools(fleet), comment)
    if spec.monitoring.kepler.enabled:
        files["monitoring/kepler-values.yaml"] = _kepler(fleet, spec, report)
    files["README.md"] = _readme(fleet, files)
    return Rendered(dict(sorted(files.items())), report)


def assemble_pools(fleet: Fleet) -> dict[str, Node]:
    """The node of each pool by the pool's name; pools with the same plan share one."""
    nodes: dict[str, Node] = {}
    by_plan: dict[tuple[Spec, str], Node] = {}
    for pool in fleet.pools:
        key = (pool.plan.spec, pool.plan.release_name)
        if key not in by_plan:
            by_plan[key] = assemble(pool.plan)
        nodes[pool.name] = by_plan[key]
    return nodes


def _kepler(fleet: Fleet, spec: Spec, report: Report) -> bytes:
    root = driver_root_of(fleet.cluster.strategy)
    has_nvml = spec.monitoring.kepler.chart_has_nvml
    values, found = kepler.kepler_values(Options(driver_root=root), has_nvml=has_nvml)
    report.extend(found)
    return kepler.values_text(values, found).encode()


def _readme(fleet: Fleet, files: Collection[str]) -> bytes:
    """How to apply each file; sections about files that are not there are left out."""
    sections = Template(data_text("data/rendered-readme.md")).substitute(
        pools="\n".join(_row(pool) for pool in fleet.pools),
        chart=fleet.cluster.operator.chart,
        image_checks="\n".join(f"    {command}" for command in _image_checks(fleet)),
    )
    absent = ["Drivers:"] if "nvidiadrivers.yaml" not in files else []
    absent += ["Kepler:"] if "monitoring/kepler-values.yaml" not in files else []
    absent += ["Driver images:"] if not fleet.with_driver_container else []
    parts = (part.strip("\n") for part in sections.split("\n## "))
    return ("\n\n## ".join(part for part in parts if not part.startswith(tuple(absent))) + "\n").encode()


def _image_checks(fleet: Fleet) -> Iterator[str]:
    """A command for each driver image that asks the registry for all releases that are known to run it."""
    releases: dict[tuple[str, str, str], dict[str, None]] = {}
    for pool in fleet.with_driver_container:
        image = pool.plan.driver_image
        if image and image.repository and (version := image.digest or image.version):
            found = releases.setdefault((image.repository, image.name, version), {})
            found |= dict.fromkeys(filter(None, [pool.plan.release_name]))
    for (repository, name, version), named in releases.items():
        asked = [f"--flatcar {release}" for release in named] or ["--flatcar stable"]
        words = [f"--repository {repository}", f"--image {name}", f"--driver-version {version}", *asked]
        yield "flatcar-gpu image check " + " ".join(words)


def _row(pool: PoolPlan) -> str:
    plan = pool.plan
    return f"| {pool.name} | {plan.release_name or 'any'} | {plan.spec.arch} | {plan.strategy} | {plan.toolkit} |"
