from __future__ import annotations

from typing import Any

import pytest

from flatcar_gpu.errors import Failure
from flatcar_gpu.kubernetes.nvml.driver_root import driver_root_of
from flatcar_gpu.kubernetes.nvml.kepler import chart_has_nvml, kepler_values, values_text
from flatcar_gpu.kubernetes.nvml.pattern import Liveness, Options, Scheme
from flatcar_gpu.spec import Strategy


def messages(has_nvml: bool, present: dict[str, Any] | None = None, **options: Any) -> list[str]:
    _, report = kepler_values(Options(**options), has_nvml=has_nvml, present=present)
    return [problem.message for problem in report]


def daemonset(has_nvml: bool = True, present: dict[str, Any] | None = None, **options: Any) -> dict[str, Any]:
    values, _ = kepler_values(Options(**options), has_nvml=has_nvml, present=present)
    found: dict[str, Any] = values["daemonset"]
    return found


@pytest.mark.parametrize(
    ("root", "path"),
    [("container", "/run/nvidia/driver"), ("sysext", "/"), ("service", "/opt/nvidia/current"), ("/srv", "/srv")],
)
def test_driver_root_of_the_chart(root: str, path: str) -> None:
    assert daemonset(driver_root=root)["nvidia"]["driverPath"] == path


def test_chart_cannot_look_in_several_places() -> None:
    with pytest.raises(Failure, match="--driver-root auto cannot be a value"):
        daemonset(driver_root="auto")
    assert "nvidia" not in daemonset(driver_root="auto", has_nvml=False)


def test_chart_without_nvml_gets_no_values_that_it_would_ignore() -> None:
    assert "nvidia" not in daemonset(has_nvml=False)
    assert "values alone cannot do it: this chart brings no NVML library into Kepler's container" in messages(False)
    assert not any("values alone" in message for message in messages(True))


@pytest.mark.parametrize(
    ("option", "flag"),
    [
        ({"wait_seconds": 60}, "--wait"),
        ({"lib_dirs": ("lib64",)}, "--lib-dir"),
        ({"selinux_type": "spc_t"}, "--selinux-type"),
        ({"size_limit": "64Mi"}, "--size-limit"),
        ({"runtime_class": "nvidia"}, "--runtime-class"),
    ],
)
def test_what_values_cannot_do_is_said_in_them_and_about_them(option: dict[str, Any], flag: str) -> None:
    assert any(message.startswith("values alone") and message.endswith(flag) for message in messages(True, **option))
    values, report = kepler_values(Options(**option), has_nvml=True)
    first, *_ = values_text(values, report).splitlines()
    assert first.startswith("# values alone cannot do it")
    assert first.endswith(flag)


def test_tolerations_keep_what_the_values_have() -> None:
    present = {"daemonset": {"tolerations": [{"operator": "Exists", "key": "mine"}]}}
    keys = [toleration["key"] for toleration in daemonset(present=present)["tolerations"]]
    assert keys == ["mine", "nvidia.com/gpu"]
    again = daemonset(present={"daemonset": daemonset(present=present)})["tolerations"]
    assert [toleration["key"] for toleration in again] == keys


@pytest.mark.parametrize(
    ("options", "probe"),
    [
        ({}, {"httpGet": {"path": "/"}, "timeoutSeconds": 5, "failureThreshold": 3}),
        ({"liveness": Liveness.LIVEZ}, {"httpGet": {"path": "/probe/livez"}, "timeoutSeconds": 5}),
        ({"liveness": Liveness.TIMEOUT}, {"timeoutSeconds": 5}),
        (
            {"scheme": Scheme.HTTPS},
            {"httpGet": {"path": "/", "scheme": "HTTPS"}, "timeoutSeconds": 5, "failureThreshold": 3},
        ),
        ({"basic_auth": True}, {"httpGet": None, "tcpSocket": {"port": "http"}, "timeoutSeconds": 5}),
        ({"liveness": Liveness.OFF}, None),
    ],
)
def test_probe(options: dict[str, Any], probe: dict[str, Any] | None) -> None:
    assert daemonset(**options)["livenessProbe"] == probe


def test_probe_is_left_when_told() -> None:
    assert "livenessProbe" not in daemonset(liveness=Liveness.KEEP)


def test_web_config_is_pointed_at() -> None:
    present = {"config": {"web": {"configFile": "/etc/kepler/web.yaml"}}}
    assert any("config.web.configFile is set" in message for message in messages(True, present))
    assert not any("config.web.configFile" in message for message in messages(True, present, scheme=Scheme.HTTPS))


def test_chart_is_known_by_its_values() -> None:
    assert chart_has_nvml(b"daemonset: {nvidia: {nvmlInitImage: {tag: x}}}\n", "v.yaml")
    assert not chart_has_nvml(b"daemonset: {hostPID: true}\n", "v.yaml")
    with pytest.raises(Failure, match="neither the values of Kepler's chart nor a render"):
        chart_has_nvml(b"replicas: 1\n", "v.yaml")
    with pytest.raises(Failure, match="neither"):
        chart_has_nvml(b"", "v.yaml")


@pytest.mark.parametrize(
    ("strategy", "root"),
    [
        (Strategy.CONTAINER, "container"),
        (Strategy.SYSEXT, "sysext"),
        (Strategy.SERVICE, "service"),
        (Strategy.NONE, "auto"),
    ],
)
def test_driver_strategy_decides_the_driver_root(strategy: Strategy, root: str) -> None:
    assert driver_root_of(strategy) == root
