"""flatcar-gpu image"""

from __future__ import annotations

from flatcar_gpu.cli.framework import Entry, command_table

COMMANDS = {
    "tag": Entry("flatcar_gpu.cli.image.tag", "The image that nodes on a release will pull."),
    "check": Entry("flatcar_gpu.cli.image.check", "Whether the images for releases or nodes are in the registry."),
    "digest": Entry("flatcar_gpu.cli.image.digest", "The digest of an image, to pin it by."),
    "audit": Entry("flatcar_gpu.cli.image.audit", "What each GPU node of a cluster will pull, and whether it can."),
    "build": Entry("flatcar_gpu.cli.image.build", "A folder with all it takes to build the images."),
}


@command_table(COMMANDS)
def command() -> None:
    """The operator's driver images.

    The GPU operator appends the release of a node to the tag of its driver image. An image of just that tag must be in
    the registry, or the node fails to pull it.

    \b
    flatcar-gpu image tag --driver-version 580.126.20 --flatcar stable
    flatcar-gpu image check --driver-version 580.126.20 --flatcar stable --flatcar beta
    kubectl get nodes -o json | flatcar-gpu image audit --driver-version 580.126.20 -
    """
