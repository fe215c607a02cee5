from __future__ import annotations

from typing import Any

import pytest
import yaml

from flatcar_gpu.errors import Failure, InvalidInput
from flatcar_gpu.kubernetes.capi import (
    LIMIT,
    ApiVersion,
    additional_config,
    container_linux_config,
    image_builder_variables,
    template_patch,
)
from flatcar_gpu.node import build
from flatcar_gpu.plan import resolve
from flatcar_gpu.report import Report
from flatcar_gpu.spec import DriverSpec, Spec, Strategy, UpdatesSpec

STRATEGIES = [Spec(driver=DriverSpec(strategy=strategy), updates=UpdatesSpec(hold=True)) for strategy in Strategy]


def _node(spec: Spec) -> dict[str, Any]:
    return build(resolve(spec))


def _refused(butane: dict[str, Any]) -> list[str]:
    with pytest.raises(InvalidInput) as caught:
        container_linux_config(butane)
    return [f"{problem.path}: {problem.message}" for problem in caught.value.report]


@pytest.mark.parametrize("spec", STRATEGIES, ids=lambda spec: spec.driver.strategy)
def test_every_node_keeps_all_it_has(spec: Spec) -> None:
    butane = _node(spec)
    config = yaml.safe_load(additional_config(butane))
    assert config.get("systemd") == butane.get("systemd")
    assert config["storage"].get("links") == butane["storage"].get("links")
    assert config["storage"].get("directories") == butane["storage"].get("directories")
    for made, file in zip(config["storage"]["files"], butane["storage"]["files"], strict=True):
        contents = file["contents"]
        fetched = {"remote": {"url": contents["source"]}} if "source" in contents else contents
        assert made == {**file, "contents": fetched}


@pytest.mark.parametrize(
    "config",
    [
        {"kernel_arguments": {"should_exist": ["quiet"]}},
        {"storage": {"luks": [{"name": "data"}]}},
        {"storage": {"trees": [{"local": "tree"}]}},
        {"storage": {"files": [{"path": "/a", "mode": 420, "append": [{"inline": "x"}]}]}},
        {"storage": {"files": [{"path": "/a", "mode": 420, "contents": {"local": "a"}}]}},
        {
            "storage": {
                "files": [{"path": "/a", "mode": 420, "contents": {"source": "https://a/b", "http_headers": []}}]
            }
        },
        {"systemd": {"units": [{"name": "a.service", "contents_local": "a"}]}},
        {"passwd": {"users": []}},
    ],
    ids=str,
)
def test_what_such_a_config_cannot_express_is_refused(config: dict[str, Any]) -> None:
    (line,) = _refused({"variant": "flatcar", "version": "1.1.0", **config})
    assert "a Container Linux Config cannot express this" in line


def test_every_refusal_comes_at_once_at_its_place() -> None:
    file = {"path": "/a", "contents": {"source": "https://a/b", "verification": {"hash": "sha256-aa"}}}
    assert _refused({"storage": {"files": [file], "raid": []}}) == [
        "$.storage.files.0.contents.verification.hash: "
        "a Container Linux Config verifies files by sha512 only, not by sha256",
        "$.storage.files.0: a strict Container Linux Config needs a mode here",
        "$.storage.raid: a Container Linux Config cannot express this: Cluster API would drop it",
    ]


def test_text_up_to_the_limit_is_taken_and_no_longer() -> None:
    def text(length: int) -> dict[str, Any]:
        return {"systemd": {"units": [{"name": "a.service", "contents": "x" * length}]}}

    head = len(additional_config(text(0))) - len("''")
    assert len(additional_config(text(LIMIT - head))) == LIMIT
    with pytest.raises(InvalidInput) as caught:
        additional_config(text(LIMIT - head + 1))
    assert "32,769 characters" in caught.value.report.problems[0].message


@pytest.mark.parametrize("spec", STRATEGIES, ids=lambda spec: spec.driver.strategy)
def test_a_patch_touches_format_and_ignition_alone(spec: Spec) -> None:
    patch = yaml.safe_load(template_patch(_node(spec), "gpu", ApiVersion.V1BETA2))
    assert patch["metadata"] == {"name": "gpu"}
    bootstrap = patch["spec"]["template"]["spec"]
    assert bootstrap.keys() == {"format", "ignition"}
    config = bootstrap["ignition"]["containerLinuxConfig"]
    assert config == {"strict": True, "additionalConfig": additional_config(_node(spec))}


def test_no_text_is_one_that_clusterctl_would_substitute() -> None:
    for spec in STRATEGIES:
        assert "${" not in additional_config(_node(spec))


def test_image_builder_needs_both_extensions() -> None:
    for strategy in (Strategy.CONTAINER, Strategy.SERVICE, Strategy.NONE):
        with pytest.raises(Failure, match="role gpu"):
            image_builder_variables(resolve(Spec(driver=DriverSpec(strategy=strategy))), Report())


def test_what_image_builder_s_role_leaves_out_is_told() -> None:
    spec = Spec(driver=DriverSpec(strategy=Strategy.SYSEXT), modules=("ib_core",), updates=UpdatesSpec(hold=True))
    report = Report()
    image_builder_variables(resolve(spec), report)
    assert [problem.path for problem in report] == ["--modules", "--hold-updates"]
