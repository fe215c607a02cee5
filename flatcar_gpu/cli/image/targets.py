"""The releases that --flatcar names, as far as images depend on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flatcar_gpu.cli.index_options import find_release
from flatcar_gpu.errors import Failure
from flatcar_gpu.flatcar.version import is_version
from flatcar_gpu.report import Report

if TYPE_CHECKING:
    from flatcar_gpu.cli.console import Console
    from flatcar_gpu.flatcar.access import Access
    from flatcar_gpu.images.tags import Driver


@dataclass(frozen=True, slots=True)
class Target:
    """A release; `kernel` and `channel` are None where the index does not know it."""

    version: str
    kernel: str | None
    channel: str | None


def find_target(text: str, driver: Driver, access: Access, console: Console, kernel: str | None = None) -> Target:
    """The release that a version or channel is.

    A version that the index lacks is warned of and taken as it is, since the index is behind at times; unless the tag
    needs a kernel that only the index knows. Raises Failure then, and for what is neither version nor channel.
    """
    try:
        release = find_release(text, access, console).release
    except Failure as failure:
        if not is_version(text):
            raise
        if driver.needs_kernel and not kernel:
            hint = f"{failure.hint}; or give the kernel to `flatcar-gpu image tag` with --kernel"
            raise Failure(f"{failure.message}, and the tag has the kernel of the release in it", hint) from None
        report = Report()
        report.warning(f"{failure.message}; the tag is made as if there were such a release", hint=failure.hint)
        console.report(report)
        return Target(text, kernel, None)
    return Target(str(release.version), kernel or release.uname, release.channel)
