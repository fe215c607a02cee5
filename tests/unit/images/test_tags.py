from __future__ import annotations

from itertools import product

import pytest

from flatcar_gpu.errors import Failure
from flatcar_gpu.images.os_tag import chart_version, os_tag
from flatcar_gpu.images.tags import TAG_RULES, Driver, Kind, Mode, TagFormat, driver_image

SHA256 = "sha256:" + "0123456789abcdef" * 4
KERNEL = "5.10.52-flatcar"

# Every line of charts, and the patch releases around which behaviour changed.
CHARTS = [
    *("1.3.0", "1.4.0", "1.6.2", "v1.7.0", "v1.8.2", "v1.9.0", "v1.10.0", "v1.11.1", "v22.9.0", "v23.3.0", "v23.6.0"),
    *("v23.9.0", "v24.3.0", "v24.6.0", "v24.9.0", "v25.3.0", "v25.10.1", "v26.3.0", "v26.7.0", "v27.1.0"),
]


def image(version: str, version_id: str = "2905.2.0", kernel: str | None = KERNEL, **told: object) -> str:
    return str(driver_image(Driver(version, **told), "flatcar", version_id, kernel).reference)  # type: ignore[arg-type]


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize(
    ("version", "precompiled", "version_id", "expected"),
    [
        ("460.73.01", False, "2905.2.0", "nvcr.io/nvidia/driver:460.73.01-flatcar2905.2.0"),
        (
            "460.73.01-5.10.52-flatcar",
            False,
            "2905.2.0",
            "nvcr.io/nvidia/driver:460.73.01-5.10.52-flatcar-flatcar2905.2.0",
        ),
        (SHA256, False, "2905.2.0", f"nvcr.io/nvidia/driver@{SHA256}"),
        ("535", True, "2905.2.0", "nvcr.io/nvidia/driver:535-5.10.52-flatcar-flatcar2905.2.0"),
        # The label is what a node-feature-discovery rule made of it.
        ("460.73.01", False, "2905", "nvcr.io/nvidia/driver:460.73.01-flatcar2905"),
    ],
)
def test_the_worked_examples_hold_in_both_modes(
    version: str, precompiled: bool, version_id: str, expected: str, mode: Mode
) -> None:
    assert image(version, version_id, precompiled=precompiled, mode=mode) == expected


@pytest.mark.parametrize(
    ("mode", "reason"),
    [(Mode.NVIDIA_DRIVER, "the operator refuses it"), (Mode.CLUSTER_POLICY, "appends the kernel to the digest")],
)
def test_a_digest_with_precompiled_is_refused(mode: Mode, reason: str) -> None:
    with pytest.raises(Failure, match=reason) as caught:
        image(SHA256, precompiled=True, mode=mode)
    assert "without --precompiled" in caught.value.hint


def test_without_labels_old_operators_ask_for_a_tag_that_ends_in_a_dash_and_new_ones_stop() -> None:
    driver = Driver("460.73.01", chart="v25.10.1")
    assert str(driver_image(driver, "", "").reference) == "nvcr.io/nvidia/driver:460.73.01-"
    with pytest.raises(Failure, match="stops with an error"):
        driver_image(Driver("460.73.01", chart="v26.3.0"), "", "")


@pytest.mark.parametrize(
    ("tag_format", "version_id", "kernel", "expected"),
    [
        (TagFormat.SHORT, "2905.2.0", None, "nvcr.io/nvidia/driver:460.73.01-flatcar2905"),
        (TagFormat.KERNEL, "2765.2.3", "5.10.32-flatcar", "nvcr.io/nvidia/driver:460.73.01-5.10.32-flatcar"),
    ],
)
def test_tags_that_no_operator_asks_for_by_itself_come_with_a_warning(
    tag_format: TagFormat, version_id: str, kernel: str | None, expected: str
) -> None:
    found = driver_image(Driver("460.73.01", tag_format=tag_format), "flatcar", version_id, kernel)
    assert str(found.reference) == expected
    assert len(found.warnings) == 1


@pytest.mark.parametrize("chart", CHARTS)
def test_flatcar_keeps_its_whole_version_with_every_chart(chart: str) -> None:
    assert os_tag("flatcar", "2905.2.0", chart) == "flatcar2905.2.0"
    assert image("460.73.01", chart=chart).endswith(":460.73.01-flatcar2905.2.0")


@pytest.mark.parametrize(
    ("os_id", "version_id", "chart", "expected"),
    [
        ("rocky", "9.4", "v25.10.1", "rocky9.4"),
        ("rocky", "9.4", "v26.3.0", "rocky9"),
        ("rhel", "9.4", "v26.3.1", "rhel9.4"),
        ("rhel", "10.0", "v26.3.1", "rhel10"),
        ("rhel", "9.4", "v26.7.0", "rhel9"),
        ("ol", "9.4", "v26.3.0", "ol9.4"),
        ("ol", "9.4", "v26.7.0", "ol9"),
        ("ubuntu", "22.04", "v26.7.0", "ubuntu22.04"),
    ],
)
def test_charts_from_26_3_on_shorten_other_systems(os_id: str, version_id: str, chart: str, expected: str) -> None:
    assert os_tag(os_id, version_id, chart) == expected


@pytest.mark.parametrize(("mode", "kind", "chart"), list(product(Mode, Kind, CHARTS)))
def test_exactly_one_rule_holds_for_every_mode_kind_and_chart(mode: Mode, kind: Kind, chart: str) -> None:
    numbers = chart_version(chart)
    rules = [rule for rule in TAG_RULES if rule.mode is mode and rule.kind is kind and rule.holds(numbers)]
    assert len(rules) == 1
    assert rules[0].makes or rules[0].hint


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ({"version": SHA256, "chart": "1.3.0"}, "charts before 1.4.0 do not know digests"),
        ({"version": "535", "precompiled": True, "chart": "v22.9.2"}, "charts before v23.3.0 do not know"),
        ({"version": "535", "mode": Mode.NVIDIA_DRIVER, "chart": "v23.6.2"}, "no NVIDIADriver resource"),
        ({"version": "535", "chart": "1.2.0"}, "is not known"),
        ({"version": "535", "chart": "newest"}, "is not a version of the gpu-operator chart"),
        ({"version": ""}, "driver.version is empty"),
        ({"version": "535", "image": ""}, "driver.image is empty"),
        ({"version": "sha256:12"}, "is not a digest"),
        ({"version": "535", "image": "driver:latest"}, "driver.image 'driver:latest' has a tag or digest in it"),
        ({"version": "535", "repository": "nvcr.io/nvidia:1"}, "driver.repository"),
        ({"version": "5 35"}, "is not a tag"),
        ({"version": "5" * 120}, "the tag is 136 characters long, registries allow 128"),
        ({"version": SHA256, "tag_format": TagFormat.SHORT}, "does not go with a digest"),
        ({"version": "535", "precompiled": True, "tag_format": TagFormat.KERNEL}, "does not go with --precompiled"),
    ],
)
def test_what_the_operator_refuses_or_spoils_is_an_error_with_the_reason(told: dict[str, object], says: str) -> None:
    with pytest.raises(Failure) as caught:
        driver_image(Driver(**told), "flatcar", "2905.2.0", KERNEL)  # type: ignore[arg-type]
    assert says in caught.value.message


def test_a_kernel_that_is_needed_but_not_known_is_an_error() -> None:
    with pytest.raises(Failure, match="is not known"):
        image("535", kernel=None, precompiled=True)


def test_a_version_that_already_has_the_os_tag_is_warned_of() -> None:
    found = driver_image(Driver("460.73.01-flatcar2905.2.0"), "flatcar", "2905.2.0")
    assert found.reference.tag == "460.73.01-flatcar2905.2.0-flatcar2905.2.0"
    assert "once more" in found.warnings[0]


def test_a_registry_with_a_port_is_a_repository() -> None:
    assert image("535", repository="127.0.0.1:5000") == "127.0.0.1:5000/driver:535-flatcar2905.2.0"
