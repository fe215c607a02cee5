"""The driver image of the nodes that a command is about, in its registry."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from flatcar_gpu.cli.image.options import look_up_all
from flatcar_gpu.errors import Failure
from flatcar_gpu.images.lookup import State
from flatcar_gpu.node_image import image_of

if TYPE_CHECKING:
    from flatcar_gpu.cli.console import Console
    from flatcar_gpu.cli.image.options import RegistryArguments
    from flatcar_gpu.cli.node import NodeArguments
    from flatcar_gpu.plan import Plan


def digest_in_registry(plan: Plan, registry: RegistryArguments, node: NodeArguments, console: Console) -> str:
    """The digest of the image that the plan's nodes pull. Raises Failure where it is missing or cannot be asked for."""
    reference = image_of(plan)
    found = look_up_all([reference], registry, node.access, console, platforms=False)[reference]
    if found.state is not State.PRESENT:
        raise Failure(found.message, found.hint)
    return str(found.digest)


def pinned(node: NodeArguments, digest: str) -> NodeArguments:
    """The same arguments with the image pinned to `digest`."""
    return replace(node, values={**node.values, "driver.digest": digest})
