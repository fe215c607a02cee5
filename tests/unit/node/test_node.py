from __future__ import annotations

import pytest
import yaml

from flatcar_gpu import resources
from flatcar_gpu.node import build
from flatcar_gpu.node.snippets import written
from flatcar_gpu.node.usr_local import with_unit_values
from flatcar_gpu.node.yaml_text import butane_text
from flatcar_gpu.plan import is_below, resolve
from flatcar_gpu.settings import with_values
from flatcar_gpu.spec import Spec, Strategy, Toolkit


@pytest.mark.parametrize(("name", "data"), list(written()), ids=lambda value: value if isinstance(value, str) else "")
def test_a_snippet_is_what_its_builder_makes(name: str, data: bytes) -> None:
    assert resources.snippet_text(name).encode() == data, "run `make snippets`"


@pytest.mark.parametrize(("name", "data"), list(written()), ids=lambda value: value if isinstance(value, str) else "")
def test_a_snippet_is_a_whole_config_for_flatcar(name: str, data: bytes) -> None:
    config = yaml.safe_load(data)
    assert config.pop("variant") == "flatcar"
    assert config.pop("version") == "1.0.0"
    assert config


def test_same_plan_same_bytes() -> None:
    assert butane_text(build(resolve(Spec()))) == butane_text(build(resolve(Spec())))


def test_modules_keep_their_order_and_stand_once() -> None:
    plan = resolve(with_values(Spec(), {"modules": ("nvidia_peermem", "loop", "nvidia_peermem")}))
    assert plan.modules == ("loop", "i2c_core", "ipmi_msghandler", "nvidia_peermem")


@pytest.mark.parametrize("strategy", Strategy)
def test_only_a_driver_container_masks_nvidia_service(strategy: Strategy) -> None:
    plan = resolve(with_values(Spec(), {"driver.strategy": strategy, "toolkit.provider": Toolkit.NONE}))
    masked = [unit["name"] for unit in build(plan).get("systemd", {}).get("units", []) if unit.get("mask")]
    assert masked == (["nvidia.service"] if strategy is Strategy.CONTAINER else [])


def test_the_overlay_s_directories_reach_every_line_of_the_unit_that_names_them() -> None:
    spec = with_values(Spec(), {"usrLocal.upper": "/var/lib/up", "usrLocal.work": "/var/lib/wd"})
    (mount, *_) = build(resolve(spec))["systemd"]["units"]
    assert "/opt/" not in mount["contents"]
    assert "ConditionPathExists=/var/lib/up\n" in mount["contents"]
    assert "Options=lowerdir=/usr/local,upperdir=/var/lib/up,workdir=/var/lib/wd\n" in mount["contents"]


def test_a_unit_s_value_is_replaced_only_where_its_key_stands() -> None:
    text = "[Mount]\nOptions=a\n# Options=b\nDirOptions=c\n"
    assert with_unit_values(text, {"Options": "x"}) == "[Mount]\nOptions=x\n# Options=b\nDirOptions=c\n"
    with pytest.raises(ValueError, match="values to unpack"):
        with_unit_values(text, {"Missing": "x"})


@pytest.mark.parametrize(
    ("path", "folder", "below"),
    [
        ("/usr", "/usr", True),
        ("/usr/local", "/usr", True),
        ("/usrlocal", "/usr", False),
        ("/opt", "/", True),
        ("/opt", "/usr", False),
    ],
)
def test_is_below(path: str, folder: str, below: bool) -> None:
    assert is_below(path, folder) is below
