"""What we write against the chart's own values and the operator's CRDs, with all objects closed."""

from __future__ import annotations

import copy
from typing import Any

import jsonschema
import pytest
import yaml

from flatcar_gpu.cli import run
from tests.contract.test_helm_values import COMMANDS, merged
from tests.shared_data import require_shared

DATA = "data/gpu-operator"


def _schema(name: str) -> dict[str, Any]:
    """The schema of a CRD's spec as the API server applies it: unknown fields are refused, defaults are filled in."""
    crd = yaml.load(require_shared(f"{DATA}/{name}").read_text(), Loader=yaml.CSafeLoader)
    spec = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    closed: dict[str, Any] = _closed(spec)
    return closed


def _closed(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("x-kubernetes-int-or-string"):
        return {"type": ["integer", "string"]}
    closed = {key: _closed(value) for key, value in schema.items() if not key.startswith("x-kubernetes-")}
    if closed.get("type") == "object" and "properties" in closed and "additionalProperties" not in closed:
        closed["additionalProperties"] = False
    closed["required"] = [name for name in closed.get("required", []) if "default" not in closed["properties"][name]]
    return closed if closed["required"] else {key: value for key, value in closed.items() if key != "required"}


def _as_cluster_policy(values: dict[str, Any]) -> dict[str, Any]:
    """The parts of values that the chart's templates copy into the ClusterPolicy under the same names."""
    policy = copy.deepcopy(values)
    for name in (
        "platform",
        "nfd",
        "clusterPolicy",
        "gpuCluster",
        "draDriver",
        "extraObjects",
        "node-feature-discovery",
    ):
        policy.pop(name, None)
    policy["operator"] = {"runtimeClass": values["operator"]["runtimeClass"]}
    driver = policy["driver"]
    driver["useNvidiaDriverCRD"] = driver.pop("nvidiaDriverCRD")["enabled"]
    driver["upgradePolicy"]["podDeletion"] = driver["upgradePolicy"].pop("gpuPodDeletion")
    for name in ("devicePlugin", "migManager"):
        for key in ("create", "data"):
            policy[name]["config"].pop(key)
    return policy


@pytest.mark.parametrize("name", COMMANDS)
def test_values_make_a_cluster_policy_that_its_crd_accepts(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    schema = _schema("nvidia.com_clusterpolicies.yaml")
    defaults = yaml.safe_load(require_shared(f"{DATA}/values.yaml").read_text())
    arguments = [word for word in COMMANDS[name] if word not in ("--chart-version", "v24.9.2")]
    assert run(["values", *arguments, "-q"]) == 0
    given = yaml.safe_load(capfd.readouterr().out)
    jsonschema.Draft7Validator(schema).validate(_as_cluster_policy(merged(defaults, given)))


@pytest.mark.parametrize("name", ["container", "digest", "resources", "tolerations"])
def test_resources_are_what_their_crd_accepts(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    schema = _schema("nvidia.com_nvidiadrivers.yaml")
    assert run(["nvidia-drivers", *COMMANDS[name], "--rdma", "--kernel-module-type", "open", "-q"]) == 0
    resource = yaml.safe_load(capfd.readouterr().out)
    assert (resource["apiVersion"], resource["kind"]) == ("nvidia.com/v1alpha1", "NVIDIADriver")
    jsonschema.Draft7Validator(schema).validate(resource["spec"])


@pytest.mark.parametrize("key", ["imagePulSecrets", "installDir"])
def test_the_closed_schema_refuses_what_the_server_would_drop(key: str) -> None:
    schema = _schema("nvidia.com_nvidiadrivers.yaml")
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft7Validator(schema).validate({"image": "driver", key: []})
