"""Which driver image the GPU operator asks for, as one table by mode, kind of version and chart.

The operator composes the reference by itself and no value of its chart overrides the end of the tag. Sources in the
table name files of NVIDIA/gpu-operator; read at commit a22dbf671 (2026-08-21) and at the tags of each chart.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from flatcar_gpu.chart import NEWEST, ChartVersion
from flatcar_gpu.errors import Failure
from flatcar_gpu.images.os_tag import chart_version, os_tag
from flatcar_gpu.images.reference import Reference, is_digest, parse_name, parse_reference

if TYPE_CHECKING:
    from collections.abc import Iterator

DEFAULT_REPOSITORY = "nvcr.io/nvidia"
DEFAULT_IMAGE = "driver"


class Mode(StrEnum):
    """How the operator is told about drivers: by ClusterPolicy alone, or by NVIDIADriver resources."""

    CLUSTER_POLICY = "cluster-policy"
    NVIDIA_DRIVER = "nvidia-driver"


class Kind(StrEnum):
    """What `driver.version` and `driver.usePrecompiled` make of it."""

    PLAIN = "plain"
    DIGEST = "digest"
    PRECOMPILED = "precompiled"
    PRECOMPILED_DIGEST = "precompiled digest"


class TagFormat(StrEnum):
    """How the tag ends. The operator by itself asks only for `operator`."""

    OPERATOR = "operator"
    SHORT = "short"
    KERNEL = "kernel"


@dataclass(frozen=True, slots=True)
class TagRule:
    """What operators from chart `since` on (to before `until`) do. An empty `makes` says that they refuse or spoil it.

    `makes` is filled with repository, version, kernel and os_tag. `hint` is the way out of a refusal.
    """

    mode: Mode
    kind: Kind
    since: ChartVersion
    why: str
    source: str
    makes: str = ""
    hint: str = ""
    until: ChartVersion | None = None

    def holds(self, chart: ChartVersion) -> bool:
        return self.since <= chart and (self.until is None or chart < self.until)


_PLAIN = "{repository}:{version}-{os_tag}"
_PRECOMPILED = "{repository}:{version}-{kernel}-{os_tag}"
_DIGEST = "{repository}@{version}"
_OLDEST = ChartVersion(1, 3, 0)

_APPENDED = "the operator appends ID and VERSION_ID of the node's os-release"
_KERNEL_TOO = (
    "with driver.usePrecompiled the operator appends the node's kernel, then ID and VERSION_ID of its os-release"
)
_AS_IT_IS = "a digest is used as it is, nothing is appended"
_NO_CRD = "charts before v23.9.0 have no NVIDIADriver resource"
_NOT_PRECOMPILED = "charts before v23.3.0 do not know driver.usePrecompiled and pass over it"
_WITHOUT = "give the driver's version or branch instead of a digest, or pin the digest without --precompiled"
_NEWER = "use chart v23.9.0 or later, or --mode cluster-policy"

TAG_RULES = (
    TagRule(Mode.CLUSTER_POLICY, Kind.PLAIN, _OLDEST, _APPENDED, "controllers/object_controls.go", _PLAIN),
    TagRule(
        Mode.CLUSTER_POLICY,
        Kind.DIGEST,
        _OLDEST,
        "charts before 1.4.0 do not know digests and append the os-release to it as to a tag",
        "controllers/object_controls.go at 1.3.0",
        until=ChartVersion(1, 4, 0),
        hint="use a later chart, or a version instead of a digest",
    ),
    TagRule(
        Mode.CLUSTER_POLICY,
        Kind.DIGEST,
        ChartVersion(1, 4, 0),
        _AS_IT_IS,
        "api/nvidia/v1/clusterpolicy_types.go, imagePath",
        _DIGEST,
    ),
    *(
        TagRule(
            Mode.CLUSTER_POLICY,
            kind,
            _OLDEST,
            _NOT_PRECOMPILED,
            "deployments/gpu-operator/values.yaml of each tag",
            until=ChartVersion(23, 3, 0),
            hint="use chart v23.3.0 or later, or leave out --precompiled",
        )
        for kind in (Kind.PRECOMPILED, Kind.PRECOMPILED_DIGEST)
    ),
    TagRule(
        Mode.CLUSTER_POLICY,
        Kind.PRECOMPILED,
        ChartVersion(23, 3, 0),
        _KERNEL_TOO,
        "controllers/object_controls.go",
        _PRECOMPILED,
    ),
    TagRule(
        Mode.CLUSTER_POLICY,
        Kind.PRECOMPILED_DIGEST,
        ChartVersion(23, 3, 0),
        "the operator appends the kernel to the digest as to a tag, which makes a reference that no runtime takes",
        "controllers/object_controls.go",
        hint=_WITHOUT,
    ),
    *(
        TagRule(
            Mode.NVIDIA_DRIVER, kind, _OLDEST, _NO_CRD, "CRDs of each tag", until=ChartVersion(23, 9, 0), hint=_NEWER
        )
        for kind in Kind
    ),
    TagRule(
        Mode.NVIDIA_DRIVER,
        Kind.PLAIN,
        ChartVersion(23, 9, 0),
        _APPENDED,
        "api/nvidia/v1alpha1/nvidiadriver_types.go, GetImagePath",
        _PLAIN,
    ),
    TagRule(
        Mode.NVIDIA_DRIVER,
        Kind.DIGEST,
        ChartVersion(23, 9, 0),
        _AS_IT_IS,
        "api/nvidia/v1alpha1/nvidiadriver_types.go, GetImagePath",
        _DIGEST,
    ),
    TagRule(
        Mode.NVIDIA_DRIVER,
        Kind.PRECOMPILED,
        ChartVersion(23, 9, 0),
        _KERNEL_TOO,
        "api/nvidia/v1alpha1/nvidiadriver_types.go, GetPrecompiledImagePath",
        _PRECOMPILED,
    ),
    TagRule(
        Mode.NVIDIA_DRIVER,
        Kind.PRECOMPILED_DIGEST,
        ChartVersion(23, 9, 0),
        "the operator refuses it: specifying image digest is not supported when precompiled is enabled",
        "api/nvidia/v1alpha1/nvidiadriver_types.go, GetPrecompiledImagePath",
        hint=_WITHOUT,
    ),
)


@dataclass(frozen=True, slots=True)
class Driver:
    """What the operator is told about the driver, and which operator that is.

    `version` is `driver.version`: a version, a branch for precompiled images, or a digest. `tag_format` other than
    `operator` names tags that exist or can be brought about, but that no operator asks for by itself.
    """

    version: str
    repository: str = DEFAULT_REPOSITORY
    image: str = DEFAULT_IMAGE
    precompiled: bool = False
    mode: Mode = Mode.CLUSTER_POLICY
    chart: str = str(NEWEST)
    tag_format: TagFormat = TagFormat.OPERATOR

    @property
    def kind(self) -> Kind:
        if self.version.startswith("sha256:"):
            return Kind.PRECOMPILED_DIGEST if self.precompiled else Kind.DIGEST
        return Kind.PRECOMPILED if self.precompiled else Kind.PLAIN

    @property
    def needs_kernel(self) -> bool:
        """Whether the reference has the node's kernel in it."""
        return self.kind is Kind.PRECOMPILED or self.tag_format is TagFormat.KERNEL


@dataclass(frozen=True, slots=True)
class DriverImage:
    """The reference, the OS tag in it, why it is this one, and what to beware of."""

    reference: Reference
    os_tag: str
    why: str
    source: str
    warnings: tuple[str, ...] = field(default=())


def driver_image(driver: Driver, os_id: str, version_id: str, kernel: str | None = None) -> DriverImage:
    """The image for nodes with that ID and VERSION_ID in os-release and that kernel (as `uname -r` prints it).

    Raises Failure, with the reason and the way out, where the operator refuses or spoils what it is told.
    """
    rule = _rule(driver)
    repository = _repository(driver)
    _check_version(driver)
    if driver.needs_kernel and not kernel:
        raise Failure(
            f"the tag has the node's kernel in it, and the kernel of {os_id} {version_id} is not known",
            hint="give it with --kernel, as `uname -r` on the node prints it",
        )
    if driver.tag_format is TagFormat.SHORT:
        version_id = version_id.partition(".")[0]
    suffix = os_tag(os_id, version_id, driver.chart)
    parts = {"repository": repository, "version": driver.version, "kernel": kernel, "os_tag": suffix}
    # Upstream's own CI named images so: ci/flatcar/build.sh of NVIDIA/gpu-driver-container.
    template = "{repository}:{version}-{kernel}" if driver.tag_format is TagFormat.KERNEL else rule.makes
    reference = parse_reference(template.format_map(parts))
    warnings = tuple(_warnings(driver, version_id, suffix))
    return DriverImage(reference, suffix, rule.why, f"gpu-operator {rule.source}", warnings)


def _rule(driver: Driver) -> TagRule:
    chart = chart_version(driver.chart)
    for rule in TAG_RULES:
        if rule.mode is driver.mode and rule.kind is driver.kind and rule.holds(chart):
            break
    else:
        raise Failure(
            f"what the operator of chart {driver.chart} asks for is not known", hint=f"the oldest chart is {_OLDEST}"
        )
    if not rule.makes:
        told = "a digest with driver.usePrecompiled" if rule.kind is Kind.PRECOMPILED_DIGEST else f"{rule.kind} images"
        raise Failure(f"{told} in {driver.mode} mode with chart {driver.chart}: {rule.why}", hint=rule.hint)
    if rule.kind is Kind.DIGEST and driver.tag_format is not TagFormat.OPERATOR:
        raise Failure(
            f"--tag-format {driver.tag_format} does not go with a digest: {_AS_IT_IS}", hint="leave out --tag-format"
        )
    if rule.kind is Kind.PRECOMPILED and driver.tag_format is TagFormat.KERNEL:
        raise Failure(
            f"--tag-format kernel does not go with --precompiled: {rule.why}",
            hint="leave out one of them; --precompiled alone has the kernel in the tag",
        )
    return rule


def _repository(driver: Driver) -> str:
    """The part before the tag, as given. Raises Failure where it is not all a name."""
    if not driver.repository or not driver.image:
        empty = "image" if driver.repository else "repository"
        raise Failure(f"driver.{empty} is empty: the operator needs repository, image and version together")
    # The CRD's pattern for image is unanchored, so the API server takes `driver:tag`; the reference is then spoilt.
    for key, value, path in (
        ("repository", driver.repository, driver.repository.partition("/")[2]),
        ("image", driver.image, driver.image),
    ):
        if "@" in value or ":" in path:
            raise Failure(
                f"driver.{key} {value!r} has a tag or digest in it; the operator appends the version to it",
                hint=f"give the name alone as {key}, and the tag or digest as driver version",
            )
    name = f"{driver.repository.rstrip('/')}/{driver.image}"
    parse_name(name)
    return name


def _check_version(driver: Driver) -> None:
    if not driver.version:
        raise Failure("driver.version is empty: the operator needs repository, image and version together")
    if driver.kind is Kind.DIGEST and not is_digest(driver.version):
        raise Failure(
            f"{driver.version!r} is not a digest", hint="a digest is sha256: and 64 hexadecimal digits in lower case"
        )


def _warnings(driver: Driver, version_id: str, suffix: str) -> Iterator[str]:
    if driver.tag_format is TagFormat.SHORT:
        yield (
            "the operator asks for the whole VERSION_ID by itself; for this tag a custom rule of "
            f"node-feature-discovery must set the label system-os_release.VERSION_ID to {version_id} "
            "(inferred, not tried on a node)"
        )
    if driver.tag_format is TagFormat.KERNEL:
        yield (
            "no operator asks for this tag: it appends the os-release to every tag; pin the image by its digest instead"
        )
    if driver.kind is not Kind.DIGEST and driver.version.endswith(f"-{suffix}"):
        yield f"the driver version already ends in -{suffix}, and the operator appends it once more"
