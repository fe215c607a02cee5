"""What the commands that add NVML to a workload share: the options of the pattern, and those that name the workload."""

from __future__ import annotations

from dataclasses import fields
from functools import wraps
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from flatcar_gpu.cli.framework import ENVIRONMENT_PREFIX
from flatcar_gpu.cli.options import formed
from flatcar_gpu.kubernetes.nvml.driver_root import is_driver_root
from flatcar_gpu.kubernetes.nvml.manifests import POD_SPECS
from flatcar_gpu.kubernetes.nvml.pattern import (
    IMAGE,
    LIB_DIR,
    NAME,
    PINNED_IMAGE,
    SELINUX_TYPE,
    SIZE,
    SIZE_LIMIT,
    Liveness,
    Options,
    Scheme,
)
from flatcar_gpu.kubernetes.nvml.selection import Selector

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MAX_WAIT = 3600


def _driver_root(ctx: click.Context, parameter: click.Parameter, value: str) -> str:
    if not is_driver_root(value):
        message = f"{value!r} is neither auto, container, sysext, service nor an absolute path"
        raise click.BadParameter(message, ctx, parameter)
    return value


_PATTERN = (
    click.option(
        "--driver-root",
        default="container",
        show_default=True,
        metavar="auto|container|sysext|service|PATH",
        callback=_driver_root,
        help="Where the driver is on the nodes: the operator's driver container (/run/nvidia/driver), Flatcar's "
        "nvidia-drivers extension (/usr/lib64), nvidia.service (/opt/nvidia/current), another path, or all of the "
        "three in turn.",
    ),
    click.option(
        "--image",
        default=IMAGE,
        show_default=True,
        callback=formed(PINNED_IMAGE),
        help="Image of the init container, with busybox or another POSIX shell; pinned by tag or digest.",
    ),
    click.option(
        "--size-limit",
        default=SIZE_LIMIT,
        show_default=True,
        metavar="SIZE",
        callback=formed(SIZE),
        help="Size limit of the emptyDir that takes the library.",
    ),
    click.option(
        "--lib-dir",
        "lib_dirs",
        envvar=f"{ENVIRONMENT_PREFIX}LIB_DIR",
        multiple=True,
        metavar="DIR",
        callback=formed(LIB_DIR),
        help="Look in this folder below the driver root, too, e.g. lib64 on GKE; repeat it for more.",
    ),
    click.option(
        "--wait",
        "wait_seconds",
        envvar=f"{ENVIRONMENT_PREFIX}WAIT",
        type=click.IntRange(0, MAX_WAIT),
        default=0,
        metavar="SECONDS",
        help="Wait that long for a driver that is not there yet, then start without it. For nodes known to have GPUs.",
    ),
    click.option(
        "--copy/--no-copy",
        "copies",
        envvar=f"{ENVIRONMENT_PREFIX}COPY",
        default=True,
        help="Copy the library, or leave it to the runtime class: for agents that run nvidia-smi or use musl.",
    ),
    click.option("--runtime-class", metavar="NAME", callback=formed(NAME), help="Run the pod with this runtime class."),
    click.option("--gpu-nodes-only", is_flag=True, help="Select nodes with nvidia.com/gpu.present=true."),
    click.option(
        "--client-label",
        is_flag=True,
        help="Select nodes with nvidia.com/gpu.deploy.client=true, so that driver upgrades evict the agent first. "
        "gpu-operator sets it from v26.7.0 on.",
    ),
    click.option(
        "--selinux-type",
        metavar="TYPE",
        callback=formed(SELINUX_TYPE),
        help="SELinux type of the init container, e.g. spc_t, where hosts enforce.",
    ),
    click.option(
        "--liveness",
        type=click.Choice([str(way) for way in Liveness]),
        default="auto",
        show_default=True,
        help="Probes: Kepler's landing page `/` (auto does that for Kepler when it is probed on /metrics), livez for "
        "images that have /probe/livez, timeout to only raise it to 5 seconds (auto for other agents), off to remove "
        "the liveness probe, keep to leave all.",
    ),
    click.option(
        "--scheme",
        type=click.Choice([str(scheme) for scheme in Scheme]),
        help="Scheme of HTTP probes, where it changes.",
    ),
    click.option("--basic-auth", is_flag=True, help="The server wants a password: probe whether its port is open."),
)

_SELECTOR = (
    click.option("--name", required=True, metavar="NAME", callback=formed(NAME), help="Name of the workload."),
    click.option("--kind", type=click.Choice(list(POD_SPECS)), help="Its kind, where several have the name."),
    click.option(
        "--namespace", metavar="NAME", callback=formed(NAME), help="Its namespace, where several have the name."
    ),
    click.option(
        "--container",
        metavar="NAME",
        callback=formed(NAME),
        help="The agent's container, where the pod has several.",
    ),
)


def pattern_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of the pattern; it is passed them as `pattern`."""

    @wraps(function)
    def collected(*arguments: Any, **named: Any) -> Any:
        values = {item.name: named.pop(item.name) for item in fields(Options)}
        values["liveness"] = Liveness(values["liveness"])
        values["scheme"] = Scheme(values["scheme"]) if values["scheme"] else None
        return function(*arguments, pattern=Options(**values), **named)

    return _with(_PATTERN, collected)


def selector_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that name a workload; it is passed them as `selector`."""

    @wraps(function)
    def collected(*arguments: Any, **named: Any) -> Any:
        values = {item.name: named.pop(item.name) for item in fields(Selector)}
        return function(*arguments, selector=Selector(**values), **named)

    return _with(_SELECTOR, collected)


def spelt_out(ctx: click.Context, left_out: Sequence[str]) -> list[str]:
    """The options that were given, as arguments of a command line, without those called in `left_out`."""
    arguments: list[str] = []
    for parameter in ctx.command.params:
        name = parameter.name or ""
        is_given = ctx.get_parameter_source(name) not in (ParameterSource.DEFAULT, None)
        if isinstance(parameter, click.Option) and name in ctx.params and is_given and name not in left_out:
            arguments += _spelt(parameter, ctx.params[name])
    return arguments


def _spelt(option: click.Option, value: Any) -> list[str]:
    flag = option.opts[0]
    if option.is_flag:
        return [flag if value else option.secondary_opts[0]] if value or option.secondary_opts else []
    return [word for item in (value if option.multiple else [value]) for word in (flag, str(item))]


def _with(options: Sequence[Any], function: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(options):
        function = option(function)
    return function
