from __future__ import annotations

import shlex
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flatcar_gpu.errors import Failure
from flatcar_gpu.flatcar.os_release import OsRelease, os_release_values, parse_os_release, version_of_os_image
from flatcar_gpu.flatcar.version import Version
from tests.shared_data import require_shared

BARE = """\
NAME="Flatcar Container Linux by Kinvolk"
ID=flatcar
ID_LIKE=coreos
VERSION=4593.2.5
VERSION_ID=4593.2.5
BUILD_ID=2026-08-11-2350
SYSEXT_LEVEL=1.0
PRETTY_NAME="Flatcar Container Linux by Kinvolk 4593.2.5 (Oklo)"
FLATCAR_BOARD="arm64-usr"
"""

QUOTED = """\
NAME="Flatcar Container Linux by Kinvolk"
ID="flatcar"
VERSION_ID="4628.1.2"
BUILD_ID="2026-05-20-0001"
SYSEXT_LEVEL="1.0"
FLATCAR_BOARD="amd64-usr"
"""


def test_values_without_quotation_marks_are_read() -> None:
    assert parse_os_release(BARE) == OsRelease(Version(4593, 2, 5), "2026-08-11-2350", "arm64", "1.0")


def test_values_with_quotation_marks_are_read() -> None:
    assert parse_os_release(QUOTED) == OsRelease(Version(4628, 1, 2), "2026-05-20-0001", "amd64", "1.0")


def test_a_real_file_is_read() -> None:
    text = require_shared("data/flatcar/os-release-3760.1.0.from-Flatcar-1283.txt").read_text()
    assert parse_os_release(text) == OsRelease(Version(3760, 1, 0), "2023-11-20-1827", "amd64", "1.0")


def test_comments_blank_lines_single_quotes_and_escapes_are_as_in_a_shell() -> None:
    values = os_release_values('# a comment\n\nA=\'one two\'\nB="say \\"x\\" #1"\r\nC=\n')
    assert values == {"A": "one two", "B": 'say "x" #1', "C": ""}


@given(
    st.dictionaries(st.from_regex(r"[A-Z_][A-Z0-9_]{0,8}", fullmatch=True), st.text().filter(lambda t: "\n" not in t))
)
def test_every_value_survives_quoting(values: dict[str, str]) -> None:
    text = "".join(f"{key}={shlex.quote(value)}\n" for key, value in values.items())
    assert os_release_values(text) == values


@given(st.text())
def test_any_text_is_read_or_refused_with_a_failure(text: str) -> None:
    with suppress(Failure):
        assert str(parse_os_release(text).version) in text


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("ID=debian\nVERSION_ID=12\n", "its ID is 'debian'"),
        ("", "its ID is 'missing'"),
        ("ID=flatcar\n", "has no VERSION_ID"),
        ("ID=flatcar\nVERSION_ID=main\n", "'main' is not a Flatcar version"),
        ("ID=flatcar\nwhat is this\n", "line 2 is not KEY=VALUE: 'what is this'"),
        ('ID="flatcar\n', "line 1 has a wrong quotation"),
        ("ID=flat car\n", "line 1 has more than one word"),
    ],
)
def test_a_file_that_does_not_identify_a_release_is_refused_with_the_reason(text: str, says: str) -> None:
    with pytest.raises(Failure) as caught:
        parse_os_release(text)
    assert says in caught.value.message


@pytest.mark.parametrize(
    ("os_image", "version"),
    [
        ("Flatcar Container Linux by Kinvolk 4593.2.4 (Oklo)", Version(4593, 2, 4)),
        ("Flatcar Container Linux by Kinvolk 4081.3.10 (LTS 2024)", Version(4081, 3, 10)),
        ("Flatcar Container Linux by Kinvolk 2605.32.1 (LTS 2021)", Version(2605, 32, 1)),
        ("Flatcar Container Linux by Kinvolk 4628.1.2", Version(4628, 1, 2)),
        ("Flatcar Container Linux 4790.0.0", Version(4790, 0, 0)),
    ],
)
def test_the_os_image_of_a_node_is_read_in_all_its_forms(os_image: str, version: Version) -> None:
    assert version_of_os_image(os_image) == version


@pytest.mark.parametrize(
    "os_image",
    ["", "Ubuntu 24.04.2 LTS", "Flatcar Container Linux by Kinvolk", "Flatcar Container Linux by Kinvolk 4593.2"],
)
def test_another_os_image_is_refused(os_image: str) -> None:
    with pytest.raises(Failure, match="is not the osImage of a Flatcar node"):
        version_of_os_image(os_image)
