from __future__ import annotations

import json
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import pytest

from flatcar_gpu.flatcar.capabilities import BrokenDriver, Capabilities, ConfigOverride, Fact, MergePlace, capabilities
from flatcar_gpu.flatcar.snapshot import snapshot
from flatcar_gpu.flatcar.tables import tables
from flatcar_gpu.flatcar.version import Version, numbers
from tests.shared_data import require_shared

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flatcar_gpu.flatcar.index import Release

OFFICIAL = tuple(f"nvidia-drivers-{branch}{open_}" for branch in (535, 550, 570) for open_ in ("", "-open"))


def release(version: str) -> Release:
    found = snapshot().get(Version.parse(version))
    assert found is not None
    return found


def of(version: str) -> Capabilities:
    return capabilities(release(version))


@pytest.mark.parametrize(
    ("version", "spec", "butane"),
    [
        ("2905.2.0", None, ()),
        ("3033.3.18", None, ()),
        ("3165.0.0", None, ()),
        ("3185.0.0", "3.3.0", ("1.0.0",)),
        ("3227.2.0", "3.3.0", ("1.0.0",)),
        ("3510.3.8", "3.3.0", ("1.0.0",)),
        ("3535.0.0", "3.4.0", ("1.0.0", "1.1.0")),
        ("3602.2.0", "3.4.0", ("1.0.0", "1.1.0")),
        ("4081.3.10", "3.4.0", ("1.0.0", "1.1.0")),
        ("4152.0.0", "3.5.0", ("1.0.0", "1.1.0")),
        ("4790.0.0", "3.5.0", ("1.0.0", "1.1.0")),
    ],
)
def test_highest_ignition_spec_and_butane_versions(version: str, spec: str | None, butane: tuple[str, ...]) -> None:
    can = of(version)
    assert can.ignition_spec.value == spec
    assert can.butane_versions.value == butane
    assert can.butane_version == (butane[0] if butane else None)


@pytest.mark.parametrize(
    ("version", "place", "always", "torcx", "override"),
    [
        ("3165.0.0", MergePlace.NONE, False, True, ConfigOverride.EXEC_START),
        ("3510.3.8", MergePlace.REAL_ROOT, False, True, ConfigOverride.EXEC_START),
        ("3760.2.0", MergePlace.REAL_ROOT, False, True, ConfigOverride.EXEC_START),
        ("3794.0.0", MergePlace.REAL_ROOT, True, False, ConfigOverride.ENVIRONMENT),
        ("4593.2.5", MergePlace.REAL_ROOT, True, False, ConfigOverride.ENVIRONMENT),
        ("4628.0.0", MergePlace.INITRD, True, False, ConfigOverride.ENVIRONMENT),
    ],
)
def test_extensions_and_containerd(
    version: str, place: MergePlace, always: bool, torcx: bool, override: ConfigOverride
) -> None:
    can = of(version)
    assert (can.sysext_merge.value, can.sysext_always_merges.value) == (place, always)
    assert (can.torcx.value, can.containerd_config.value) == (torcx, override)


@pytest.mark.parametrize(
    ("version", "upholds", "upheld_by", "hidden", "nested_break"),
    [
        ("2905.2.0", False, False, True, False),  # systemd 247
        ("3510.3.8", True, False, True, False),  # 252
        ("3913.0.0", True, True, True, False),  # 255
        ("4593.2.5", True, True, False, True),  # 257
        ("4628.1.2", True, True, False, False),  # 258
    ],
)
def test_units_and_mounts_go_by_systemd(
    version: str, upholds: bool, upheld_by: bool, hidden: bool, nested_break: bool
) -> None:
    can = of(version)
    assert can.systemd_knows_upholds.value is upholds
    assert can.systemd_knows_upheld_by.value is upheld_by
    assert can.early_mounts_are_hidden.value is hidden
    assert can.nested_mounts_break_merge.value is nested_break


@pytest.mark.parametrize(
    ("version", "platforms", "architectures"),
    [
        ("2605.12.0", (), ()),
        ("3033.3.18", ("aws", "azure"), ("amd64",)),
        ("3510.3.8", ("aws", "azure"), ("amd64",)),
        ("3637.0.0", ("all",), ("amd64",)),
        ("4230.0.1", ("all",), ("amd64",)),
        ("4230.1.0", ("all",), ("amd64", "arm64")),
    ],
)
def test_where_nvidia_service_is(version: str, platforms: tuple[str, ...], architectures: tuple[str, ...]) -> None:
    can = of(version)
    assert can.nvidia_service_platforms.value == platforms
    assert can.nvidia_service_architectures.value == architectures


def test_the_default_driver_that_nvidia_deleted_is_marked() -> None:
    assert of("3374.2.0").nvidia_service_drivers.value == {"amd64": "510.73.05"}
    assert of("3374.2.0").nvidia_service_driver_is_withdrawn.value
    assert not of("3510.2.1").nvidia_service_driver_is_withdrawn.value


def test_a_default_driver_that_was_not_found_is_not_guessed() -> None:
    for version in ("3033.3.2", "3139.2.0", "3572.0.0"):
        assert of(version).nvidia_service_drivers.value is None


def test_official_extensions_begin_with_4344_and_are_in_no_lts() -> None:
    assert of("4284.0.0").nvidia_sysexts.value == ()
    assert of("4344.0.0").nvidia_sysexts.value == OFFICIAL
    for found in snapshot().of_channel("lts"):
        assert capabilities(found).nvidia_sysexts.value == ()


def test_an_lts_yet_to_come_is_taken_to_have_no_extensions_as_an_inference() -> None:
    fact = capabilities(replace(release("4593.2.5"), version=Version(4593, 3, 0), channel="lts")).nvidia_sysexts
    assert fact.value == ()
    assert fact.inferred


def test_the_driver_in_an_extension_is_an_inference() -> None:
    drivers = of("4593.2.5").nvidia_sysext_drivers
    assert drivers.value["nvidia-drivers-570-open"] == "570.195.03"
    assert drivers.inferred


def test_facts_about_releases_after_those_looked_at_are_inferred() -> None:
    known = of("4790.0.0")
    later = capabilities(replace(release("4790.0.0"), version=Version(4823, 0, 0)))
    assert not known.sysext_merge.inferred
    assert later.sysext_merge.inferred
    assert later.kernel_options["DRM"].inferred
    assert not later.ignition.inferred


def test_a_row_that_lacks_a_version_gets_it_from_the_table_as_an_inference() -> None:
    can = capabilities(replace(release("4593.2.5"), ignition=None, systemd="odd", containerd=None))
    assert can.ignition == Fact("2.24.0", "release index", inferred=True)
    assert can.systemd == Fact(257, "release index", inferred=True)
    assert can.containerd_major == Fact(2, "release index", inferred=True)


def test_the_table_agrees_with_every_row_of_the_index() -> None:
    for found in snapshot():
        listed = capabilities(found)
        usual = capabilities(replace(found, ignition=None, systemd=None, containerd=None))
        assert usual.ignition_spec.value == listed.ignition_spec.value, found.version
        assert usual.containerd_major.value == listed.containerd_major.value, found.version
        if found.version.major >= 2905:  # the table begins there
            assert usual.systemd.value == listed.systemd.value, found.version


def test_broken_drivers_go_by_the_kernel() -> None:
    assert of("4593.2.4").broken_drivers == ()  # 6.12.95
    assert of("4081.3.10").broken_drivers == ()  # 6.6.150
    broken = of("4593.2.5").broken_drivers  # 6.12.102
    assert [driver.branch for driver in broken] == ["535", "550", "570", "580"]

    def breaks(version: str) -> list[BrokenDriver]:
        return [driver for driver in broken if driver.includes(version)]

    assert breaks("570.195.03")
    assert breaks("580.105.08")
    assert not breaks("580.126.09")
    assert not breaks("590.44.01")


def test_a_kernel_that_two_sources_name_differently_is_told() -> None:
    doubt = of("4230.0.1").kernel_at_tag
    assert doubt is not None
    assert doubt.value == "6.6.78"
    assert of("4230.1.0").kernel_at_tag is None


@pytest.mark.parametrize(
    ("version", "option", "value"),
    [
        ("3510.3.8", "DRM", None),
        ("4593.2.5", "DRM", "m"),
        ("4790.0.0", "DRM", "y"),
        ("4081.3.10", "LOCK_DOWN_IN_EFI_SECURE_BOOT", "n"),
        ("4116.0.0", "LOCK_DOWN_IN_EFI_SECURE_BOOT", "y"),
        ("4593.2.5", "IPMI_HANDLER", "m"),
    ],
)
def test_kernel_options(version: str, option: str, value: str | None) -> None:
    assert of(version).kernel_options[option].value == value


def every_row() -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, table in tables().items():
        if isinstance(table, list):
            rows = table
        elif "options" in table:
            rows = [row for rows in table["options"].values() for row in rows]
        else:
            rows = table["rows"]
        for row in rows:
            yield name, row


@pytest.mark.parametrize(("name", "row"), list(every_row()))
def test_every_row_names_its_source(name: str, row: Mapping[str, Any]) -> None:
    assert isinstance(row["source"], str)
    assert len(row["source"]) >= len("not found")


def test_what_looks_like_a_number_is_text_so_that_no_digit_is_lost() -> None:
    def floats(value: object) -> Iterator[object]:
        if isinstance(value, dict):
            value = list(value.values())
        if isinstance(value, list):
            for item in value:
                yield from floats(item)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield value

    assert list(floats(dict(tables()))) == []


def test_the_rows_of_a_table_ascend_and_are_complete() -> None:
    for name, table in tables().items():
        if isinstance(table, list):
            continue
        for rows in table["options"].values() if "options" in table else [table["rows"]]:
            begins = [numbers(row["from"]) for row in rows]
            assert begins == sorted(set(begins)), name
            assert not any(begins[0]), name
            keys = {frozenset(row) - {"inferred", "withdrawn"} for row in rows}
            assert len(keys) == 1, name


def test_every_capability_of_every_release_has_a_source() -> None:
    for found in snapshot():
        can = capabilities(found)
        for field in fields(can):
            value = getattr(can, field.name)
            facts = value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else [value]
            assert all(fact.source for fact in facts if fact is not None), (found.version, field.name)


def test_capabilities_agree_with_the_tags_of_the_releases() -> None:
    tags = json.loads(require_shared("data/flatcar/nvidia-by-release.json").read_text())["tags"]
    for tag in tags:
        found = snapshot().get(Version.parse(tag["version"]))
        if found is None:
            continue
        can = capabilities(found)
        drivers = can.nvidia_service_drivers.value
        assert list((drivers or {}).values()) == tag["nvidia_service_ebuilds"], tag["version"]
        assert list(can.nvidia_sysexts.value) == tag["official_nvidia_sysexts_amd64"], tag["version"]
        for branch, ebuild in tag["sysext_driver_by_branch_best_stable_amd64_keyword"].items():
            assert can.nvidia_sysext_drivers.value[f"nvidia-drivers-{branch}"] == ebuild["driver_version"]
        assert tag["ignition_ebuild"].split("-")[1] == can.ignition.value
        at_tag = can.kernel_at_tag.value if can.kernel_at_tag else found.kernel
        assert at_tag == tag["kernel_ebuild"], tag["version"]
    unlisted = {row["version"] for row in tables()["unlisted"]}
    assert {tag["version"] for tag in tags if snapshot().get(Version.parse(tag["version"])) is None} <= unlisted
