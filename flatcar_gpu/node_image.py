"""The driver image that the nodes of a plan pull."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flatcar_gpu.errors import Failure
from flatcar_gpu.images.tags import Driver, Mode, driver_image

if TYPE_CHECKING:
    from flatcar_gpu.images.reference import Reference
    from flatcar_gpu.plan import Plan


def image_of(plan: Plan) -> Reference:
    """The reference that the plan's nodes pull. Raises Failure where the plan leaves it open."""
    image = plan.driver_image
    if image is None:
        raise Failure(f"the operator pulls no driver image with {plan.strategy}", hint="use --driver container")
    version = image.digest or image.version
    if version is None or image.repository is None or plan.release is None:
        raise Failure(
            "which driver image the nodes pull is not certain",
            hint="give --repository, --driver-version and --flatcar",
        )
    mode = Mode.NVIDIA_DRIVER if plan.operator.nvidia_driver_crd else Mode.CLUSTER_POLICY
    driver = Driver(version, image.repository, image.name, image.precompiled, mode, str(plan.operator.chart))
    return driver_image(driver, "flatcar", plan.release_name, plan.release.uname).reference
