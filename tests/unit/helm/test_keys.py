from __future__ import annotations

import re
from importlib.resources import files

import pytest
import yaml

from flatcar_gpu.chart import NEWEST, ChartVersion
from flatcar_gpu.helm.keys import TYPES, keys, sections
from flatcar_gpu.helm.values import Values
from flatcar_gpu.settings import settings
from tests.shared_data import ROOT, require_shared


def test_every_key_has_a_type_a_source_and_charts_in_order() -> None:
    for key in keys().values():
        assert key.type in TYPES or (key.type == "enum" and key.values), key.name
        assert len(key.source) > 10, key.name
        assert key.since is None or key.until is None or key.since < key.until, key.name
        assert key.default is None or key.misfit(key.default) == "", key.name


def test_no_key_stands_below_one_that_holds_no_mapping() -> None:
    for name, key in keys().items():
        assert name not in sections() or key.type == "map", name


def test_a_group_has_no_key_twice() -> None:
    for group in yaml.safe_load(files("flatcar_gpu.helm").joinpath("data/keys.yaml").read_text()):
        assert set(group) <= {"source", "below", "keys"}
        assert len(set(group.get("below", []))) == len(group.get("below", []))


def test_a_row_of_its_own_wins_over_that_of_a_group_of_components() -> None:
    assert keys()["driver.repository"].default == "nvcr.io/nvidia"
    assert keys()["validator.repository"].default is None


@pytest.mark.parametrize(
    ("key", "chart", "default"),
    [
        ("cdi.enabled", "v23.2.0", None),
        ("cdi.enabled", "v25.3.4", False),
        ("cdi.enabled", "v25.10.0", True),
        ("driver.enabled", "v1.7.0", True),
        ("operator.runtimeClass", "v26.7.0", "nvidia"),
    ],
)
def test_a_default_is_that_of_the_chart(key: str, chart: str, default: object) -> None:
    assert keys()[key].default_in(ChartVersion.parse(chart)) == default


@pytest.mark.parametrize(
    ("key", "value", "fits"),
    [
        ("driver.enabled", True, True),
        ("driver.enabled", "true", False),
        ("driver.version", "570.10", True),
        ("driver.version", 570.10, False),
        ("driver.startupProbe.periodSeconds", 10, True),
        ("driver.startupProbe.periodSeconds", -1, False),
        ("driver.startupProbe.periodSeconds", True, False),
        ("driver.upgradePolicy.maxUnavailable", "25%", True),
        ("driver.upgradePolicy.maxUnavailable", 3, True),
        ("driver.upgradePolicy.maxUnavailable", 2.5, False),
        ("driver.imagePullSecrets", ["a"], True),
        ("driver.imagePullSecrets", [{"name": "a"}], False),
        ("toolkit.env", [{"name": "A", "value": "1"}], True),
        ("toolkit.env", {"A": "1"}, False),
        ("mig.strategy", "single", True),
        ("mig.strategy", "Single", False),
        ("operator.affinity", None, True),
    ],
)
def test_types(key: str, value: object, fits: bool) -> None:
    assert (keys()[key].misfit(value) == "") is fits


def test_what_the_newest_chart_sets_is_all_in_the_table_with_its_types() -> None:
    tree = yaml.safe_load(require_shared("data/gpu-operator/values.yaml").read_text())
    values = Values(NEWEST, tree)
    found = 0
    for path, value, key in values.walk():
        assert key is not None, path
        assert key.is_in(NEWEST), path
        assert key.misfit(value) == "", path
        assert key.default is None or key.default == value, path
        found += 1
    assert found > 200


def test_the_documentation_s_table_of_charts_is_that_of_the_keys() -> None:
    text = (ROOT / "docs" / "helm.md").read_text()
    rows = re.findall(r"^\| `(--[a-z-]+)` \| `([\w.]+)` \| (v[\d.]+) \|$", text, re.MULTILINE)
    flags = {setting.flag.split("/")[0] for setting in settings().values()}
    assert len(rows) == 5
    for flag, key, chart in rows:
        assert flag in flags
        assert str(keys()[key].since) == chart
