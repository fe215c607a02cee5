from __future__ import annotations

import pytest

from flatcar_gpu.chart import LINES, NEWEST, Behaviour, ChartVersion


@pytest.mark.parametrize("text", ["v25.10.1", "25.10.1"])
def test_a_version_is_read_with_and_without_its_v_and_written_with_it(text: str) -> None:
    assert str(ChartVersion.parse(text)) == "v25.10.1"


@pytest.mark.parametrize("text", ["", "v25.10", "v25.10.1-rc.1", "latest", "v25.10.1.2"])
def test_what_is_no_version_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a version of the chart"):
        ChartVersion.parse(text)


def test_versions_compare_as_numbers_and_the_old_scheme_comes_first() -> None:
    texts = ["v26.7.0", "v25.10.0", "v25.3.4", "v22.9.2", "v22.9.0", "v1.11.0", "v1.9.1"]
    versions = [ChartVersion.parse(text) for text in texts]
    assert [str(version) for version in sorted(versions)] == texts[::-1]


def test_the_newest_chart_is_of_the_last_known_line() -> None:
    assert list(LINES) == sorted(LINES)
    assert NEWEST.line == LINES[-1]


def test_a_behaviour_begins_with_its_first_chart_and_ends_before_its_last() -> None:
    behaviour = Behaviour(ChartVersion(23, 6, 0), until=ChartVersion(24, 6, 0), source="test")
    found = [behaviour.holds(ChartVersion.parse(text)) for text in ("v23.3.2", "v23.6.0", "v24.3.0", "v24.6.0")]
    assert found == [False, True, True, False]
