from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flatcar_gpu.errors import Failure
from flatcar_gpu.flatcar.version import Version, kernel_version, numbers

NUMBER = st.integers(min_value=0, max_value=10**9 - 1)
TRIPLE = st.tuples(NUMBER, NUMBER, NUMBER)


@given(TRIPLE)
def test_a_version_reads_back_what_it_writes(triple: tuple[int, int, int]) -> None:
    version = Version(*triple)
    assert Version.parse(str(version)) == version
    assert hash(Version.parse(str(version))) == hash(version)


@given(TRIPLE, TRIPLE)
def test_versions_are_ordered_as_their_numbers(one: tuple[int, int, int], other: tuple[int, int, int]) -> None:
    assert (Version(*one) < Version(*other)) == (one < other)


def test_the_order_is_of_numbers_not_of_text() -> None:
    assert Version.parse("3033.3.2") < Version.parse("3033.3.10") < Version.parse("10000.0.0")


@given(st.text(alphabet="0123456789.-v \n", max_size=12))
def test_any_text_is_exactly_three_numbers_or_refused(text: str) -> None:
    is_version = re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9}){2}", text) is not None
    try:
        version = Version.parse(text)
    except Failure:
        assert not is_version
    else:
        assert is_version
        assert tuple(map(int, text.split("."))) == (version.major, version.minor, version.patch)


ARABIC_DIGITS = "\u0664.\u0665.\u0666"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "4593",
        "4593.2",
        "4593.2.5.1",
        "4593.2.5\n",
        " 4593.2.5",
        "-1.0.0",
        "1e3.0.0",
        ARABIC_DIGITS,
        "1" * 30 + ".0.0",
    ],
)
def test_what_is_not_exactly_three_plain_numbers_is_no_version(text: str) -> None:
    with pytest.raises(Failure, match="is not a Flatcar version"):
        Version.parse(text)


def test_the_hint_names_the_version_that_was_meant() -> None:
    with pytest.raises(Failure) as caught:
        Version.parse("v4593.2.5")
    assert caught.value.hint == "write 4593.2.5"


@pytest.mark.parametrize(
    ("text", "kernel"),
    [
        ("5.10.52-flatcar", "5.10.52"),
        ("5.10.52", "5.10.52"),
        ("6.12.95-flatcar (amd64)", "6.12.95"),
        (" 6.12.95-flatcar\n", "6.12.95"),
    ],
)
def test_a_kernel_is_read_in_every_form_a_node_gives_it(text: str, kernel: str) -> None:
    assert kernel_version(text) == kernel


@pytest.mark.parametrize("text", ["", "5.10", "5.10.52-generic", "5.10.52-flatcar-1", "flatcar"])
def test_a_kernel_that_is_not_flatcars_is_refused(text: str) -> None:
    with pytest.raises(Failure, match="is not a kernel version of Flatcar"):
        kernel_version(text)


def test_dotted_numbers_compare_by_number() -> None:
    assert numbers("6.12.97") < numbers("6.12.102")
    assert numbers("570.86.15") < numbers("570.195.03")
    assert numbers("257") == (257,)


@pytest.mark.parametrize("text", ["", "1..2", "1.2.", "6.12-rc1", "1.x"])
def test_what_is_no_dotted_number_cannot_be_compared(text: str) -> None:
    with pytest.raises(Failure, match="is not a version number"):
        numbers(text)
