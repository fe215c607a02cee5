"""What the image commands share: options about the driver, about registries, and about the form of the output."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from flatcar_gpu.chart import NEWEST
from flatcar_gpu.errors import Failure
from flatcar_gpu.images.tags import DEFAULT_IMAGE, DEFAULT_REPOSITORY, Driver, Mode, TagFormat

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from flatcar_gpu.cli.console import Console
    from flatcar_gpu.flatcar.access import Access
    from flatcar_gpu.images.lookup import Lookup
    from flatcar_gpu.images.reference import Reference
    from flatcar_gpu.images.registry.client import Registries

_DRIVER_OPTIONS = (
    click.option(
        "--driver-version",
        required=True,
        metavar="VERSION|DIGEST",
        help="driver.version: a version, a branch for precompiled images, or sha256:HEX.",
    ),
    click.option(
        "--repository",
        default=DEFAULT_REPOSITORY,
        help=f"driver.repository: registry and path.  [default: {DEFAULT_REPOSITORY}]",
    ),
    click.option("--image", default=DEFAULT_IMAGE, help=f"driver.image: the image's name.  [default: {DEFAULT_IMAGE}]"),
    click.option("--precompiled", is_flag=True, help="driver.usePrecompiled: the node's kernel is in the tag, too."),
    click.option(
        "--chart-version",
        default=str(NEWEST),
        metavar="VERSION",
        help=f"Version of the gpu-operator chart.  [default: {NEWEST}]",
    ),
)

mode_option = click.option(
    "--mode",
    type=click.Choice([mode.value for mode in Mode]),
    default=Mode.CLUSTER_POLICY.value,
    help="How the operator is told about drivers.  [default: cluster-policy]",
)

tag_format_option = click.option(
    "--tag-format",
    type=click.Choice([form.value for form in TagFormat]),
    default=TagFormat.OPERATOR.value,
    help="What the operator asks for, -flatcar2905 alone, or the kernel as upstream named images.  [default: operator]",
)

arch_option = click.option(
    "--arch",
    type=click.Choice(["amd64", "arm64"]),
    default="amd64",
    help="Architecture that the image must be for.  [default: amd64]",
)

all_nodes_option = click.option(
    "--all-nodes", is_flag=True, help="Take every Flatcar node for a GPU node, as where no labels tell."
)


def driver_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options about the driver; it is passed them as `driver`.

    --mode and --tag-format go into it where the command has them.
    """

    @wraps(function)
    def collected(
        driver_version: str,
        repository: str,
        image: str,
        precompiled: bool,
        chart_version: str,
        tag_format: str = TagFormat.OPERATOR,
        mode: str = Mode.CLUSTER_POLICY,
        **arguments: Any,
    ) -> Any:
        driver = Driver(
            driver_version, repository, image, precompiled, Mode(mode), chart_version, TagFormat(tag_format)
        )
        return function(driver=driver, **arguments)

    return _decorated(collected, _DRIVER_OPTIONS)


@dataclass(frozen=True, slots=True)
class RegistryArguments:
    """How registries may be asked."""

    authfile: str | None
    tls_verify: bool
    ca_file: str | None
    retry_times: int
    jobs: int


_REGISTRY_OPTIONS = (
    click.option("--authfile", metavar="FILE", help="Credentials as docker or podman login writes them."),
    click.option(
        "--tls-verify/--no-tls-verify",
        default=True,
        help="Without, certificates are not checked and plain http is allowed.  [default: --tls-verify]",
    ),
    click.option("--ca-file", metavar="FILE", help="Certificates to trust, in place of the usual ones."),
    click.option(
        "--retry-times",
        type=click.IntRange(min=0, max=20),
        default=3,
        help="How often to try again what may pass.  [default: 3]",
    ),
    click.option(
        "--jobs", type=click.IntRange(min=1, max=64), default=8, help="How much to ask for at a time.  [default: 8]"
    ),
)


def registry_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command skopeo's options about registries; it is passed them as `registry`."""

    @wraps(function)
    def collected(
        authfile: str | None, tls_verify: bool, ca_file: str | None, retry_times: int, jobs: int, **arguments: Any
    ) -> Any:
        return function(
            registry=RegistryArguments(authfile, tls_verify, ca_file, retry_times, jobs),
            **arguments,
        )

    return _decorated(collected, _REGISTRY_OPTIONS)


def _decorated(function: Callable[..., Any], options: Collection[Callable[..., Any]]) -> Callable[..., Any]:
    for option in reversed(list(options)):
        function = option(function)
    return function


def open_registries(registry: RegistryArguments, access: Access, console: Console) -> Registries:
    """A client as the options say; with -vv each request is said."""
    from flatcar_gpu.images.registry.client import Registries
    from flatcar_gpu.images.registry.credentials import CredentialStore
    from flatcar_gpu.images.registry.transport import Settings

    settings = Settings(registry.tls_verify, registry.ca_file, registry.retry_times, access.timeout)
    return Registries(settings, CredentialStore(registry.authfile), lambda text: console.note(text, level=2))


def may_be_asked(reference: Reference, access: Access) -> bool:
    """Whether a registry may be asked: with --offline only one on this machine."""
    from flatcar_gpu.images.registry.transport import is_loopback

    return not access.offline or is_loopback(f"https://{reference.registry}")


def look_up_all(
    references: Collection[Reference],
    registry: RegistryArguments,
    access: Access,
    console: Console,
    *,
    platforms: bool = True,
) -> dict[Reference, Lookup]:
    """What registries say of each reference, with a progress bar on a terminal; their own warnings are said."""
    from flatcar_gpu.images.lookup import look_up, with_neighbours
    from flatcar_gpu.report import Report

    references = dict.fromkeys(references)
    for reference in references:
        if not may_be_asked(reference, access):
            raise Failure(f"{reference.registry} is not asked with --offline")
    registries = open_registries(registry, access, console)
    with _progress(len(references), console) as done:
        found = look_up(references, registries, jobs=registry.jobs, platforms=platforms, done=done)
    found = with_neighbours(found, registries)
    report = Report()
    for warning in registries.warnings:
        report.warning(warning)
    console.report(report)
    return found


@contextmanager
def _progress(length: int, console: Console) -> Iterator[Callable[[], object]]:
    import sys

    if console.quiet or console.verbose > 1 or not sys.stderr.isatty():
        yield lambda: None
        return
    with click.progressbar(length=length, label="Asking registries", file=sys.stderr) as bar:
        yield lambda: bar.update(1)
