from __future__ import annotations

import base64
import gzip
import json
from typing import Any

import pytest

from flatcar_gpu.platforms import PLATFORMS, Counted, Platform, shrunk, size_report

SMALL: dict[str, Any] = {"ignition": {"version": "3.3.0"}}


@pytest.mark.parametrize("platform", [each for each in PLATFORMS.values() if each.limit], ids=lambda each: each.name)
def test_a_platform_fails_above_its_limit_and_warns_from_three_quarters_on(platform: Platform) -> None:
    assert platform.limit
    fits = platform.limit if platform.counted is Counted.PLAIN else platform.limit // 4 * 3
    assert not size_report(platform, b"x" * (fits * 3 // 4 - 3), SMALL).problems
    assert size_report(platform, b"x" * (fits * 3 // 4 + 3), SMALL).warning_count == 1
    assert not size_report(platform, b"x" * fits, SMALL).has_errors
    assert size_report(platform, b"x" * (fits + 3), SMALL).has_errors


def test_a_platform_without_a_known_limit_says_nothing() -> None:
    assert not size_report(PLATFORMS["pxe"], b"x" * 10_000_000, SMALL).problems


def test_base64_is_counted_with_its_padding() -> None:
    for length in range(10):
        assert PLATFORMS["openstack"].size_of(b"x" * length) == len(base64.b64encode(b"x" * length))


def test_the_largest_parts_are_named() -> None:
    config = {
        "ignition": {"version": "3.3.0"},
        "storage": {"files": [{"path": "/etc/small", "contents": {"source": "data:,x"}}, {"path": "/etc/none"}]},
        "systemd": {"units": [{"name": "big.service", "dropins": [{"name": "a.conf", "contents": "y" * 5000}]}]},
    }
    (problem,) = size_report(PLATFORMS["aws"], b"x" * 20_000, config)
    assert "20,000 of the 16,384 that aws allows as user data" in problem.message
    assert "largest: big.service 5,000, /etc/small 7, /etc/none 0" in problem.hint


def test_a_shrunk_config_holds_the_config_it_came_from() -> None:
    config = (json.dumps({"ignition": {"version": "3.3.0"}, "filler": "a" * 5000}) + "\n").encode()
    small = shrunk(config, "3.3.0")
    assert len(small) < len(config) // 10
    outer = json.loads(small)
    assert outer["ignition"]["version"] == "3.3.0"
    replace = outer["ignition"]["config"]["replace"]
    assert replace["compression"] == "gzip"
    packed = base64.b64decode(replace["source"].removeprefix("data:;base64,"))
    assert gzip.decompress(packed) + b"\n" == config


def test_a_config_that_would_grow_stays_as_it_is() -> None:
    assert shrunk(b'{"ignition":{"version":"3.3.0"}}\n', "3.3.0") == b'{"ignition":{"version":"3.3.0"}}\n'
