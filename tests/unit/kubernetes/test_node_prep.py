from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from flatcar_gpu.assembly import assemble
from flatcar_gpu.cli import run
from flatcar_gpu.kubernetes.node_prep.manifests import Options, apply_manifests, manifests_text, remove_manifests
from flatcar_gpu.kubernetes.node_prep.source import script, source_folder
from flatcar_gpu.node import build
from flatcar_gpu.plan import Toleration, resolve
from flatcar_gpu.settings import with_values
from flatcar_gpu.spec import Spec
from tests.contract.emitted import IgnitionConfig, read_source

HASH = "sha256-" + "0" * 64

SPECS: dict[str, dict[str, Any]] = {
    "container": {},
    "everything": {"updates.hold": True, "modules": ("nvidia_peermem",), "usrLocal.upper": "/var/lib/a/upper"},
    "outside": {"toolkit.installDir": "/opt/nvidia"},
    "sysext": {"driver.strategy": "sysext", "toolkit.runtimeSysext.hash": HASH},
    "service": {"driver.strategy": "service", "driver.version": "570.195.03"},
    "none": {"driver.strategy": "none"},
}


def _by_kind(manifests: list[Any]) -> dict[str, Any]:
    return {manifest["kind"]: manifest for manifest in manifests}


def _pod(manifests: list[Any]) -> Any:
    return _by_kind(manifests)["DaemonSet"]["spec"]["template"]["spec"]


def _expected(config: IgnitionConfig) -> tuple[set[str], dict[str, bytes]]:
    """The steps and texts that put on a node what Ignition puts there."""
    steps, texts = set(), {}
    for folder in config.storage.get("directories", ()):
        steps.add(f"directory {folder['path']} {folder['mode']:04o}")
    for file in config.storage.get("files", ()):
        path, mode, source = file["path"], f"{file['mode']:04o}", file["contents"]["source"]
        if source.startswith("data:"):
            texts[path] = read_source(source)
            steps.add(f"{'replace' if file.get('overwrite') else 'file'} {path} {mode}")
        else:
            steps.add(" ".join(["fetch", path, mode, source, *file["contents"].get("verification", {}).values()]))
    for link in config.storage.get("links", ()):
        steps.add(f"link {link['path']} {link['target']}")
    for name, text in config.unit_files().items():
        texts[f"/etc/systemd/system/{name}"] = text.encode()
        steps.add(f"file /etc/systemd/system/{name} 0644")
    for name, unit in config.units.items():
        if unit.get("mask"):
            steps.add(f"link /etc/systemd/system/{name} /dev/null")
        if unit.get("enabled"):
            steps.add(f"enable {name}")
    return steps, texts


@pytest.mark.parametrize("values", SPECS.values(), ids=SPECS)
def test_the_source_is_what_ignition_writes(values: dict[str, Any]) -> None:
    node = assemble(resolve(with_values(Spec(), values)))
    steps, texts = _expected(IgnitionConfig(node.ignition))
    folder = dict(source_folder(node.butane))
    lines = folder.pop("steps").splitlines()
    assert set(lines) == steps
    assert len(lines) == len(steps)
    assert {path.removeprefix("files"): text.encode() for path, text in folder.items()} == texts


@pytest.mark.parametrize("values", SPECS.values(), ids=SPECS)
def test_the_volume_gives_every_file_its_path_again(values: dict[str, Any]) -> None:
    butane = build(resolve(with_values(Spec(), values)))
    manifests = apply_manifests(butane, Options())
    data = _by_kind(manifests)["ConfigMap"]["data"]
    items = _pod(manifests)["volumes"][1]["configMap"]["items"]
    assert {item["path"]: data[item["key"]] for item in items} == {
        "prepare-node.sh": script(),
        **source_folder(butane),
    }
    assert len({item["key"] for item in items}) == len(items) == len(data)
    # Kubernetes, validation of ConfigMap keys.
    assert all(re.fullmatch(r"[-._a-zA-Z0-9]{1,253}", key) for key in data)


def test_the_namespace_admits_the_pod_and_the_pod_gets_no_token() -> None:
    manifests = apply_manifests(build(resolve(Spec())), Options(namespace="nodes"))
    kinds = _by_kind(manifests)
    assert kinds["Namespace"]["metadata"]["name"] == "nodes"
    assert kinds["Namespace"]["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "privileged"
    assert {kinds[kind]["metadata"]["namespace"] for kind in ("ConfigMap", "DaemonSet")} == {"nodes"}
    pod = _pod(manifests)
    assert pod["automountServiceAccountToken"] is False
    assert pod["hostPID"] is True
    assert [container["securityContext"].get("privileged") for container in pod["initContainers"]] == [True]
    assert pod["containers"][0]["securityContext"]["capabilities"] == {"drop": ["ALL"]}


def test_flatcar_nodes_with_any_label_of_a_gpu_are_chosen() -> None:
    affinity = _pod(remove_manifests(Options()))["affinity"]["nodeAffinity"]
    terms = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    chosen = {tuple((one["key"], *one["values"]) for one in term["matchExpressions"]) for term in terms}
    is_flatcar = ("feature.node.kubernetes.io/system-os_release.ID", "flatcar")
    assert (is_flatcar, ("feature.node.kubernetes.io/pci-10de.present", "true")) in chosen
    assert all(conditions[0] == is_flatcar for conditions in chosen)


def test_the_user_chooses_nodes_instead() -> None:
    pod = _pod(remove_manifests(Options(node_selector={"pool": "gpu"})))
    assert pod["nodeSelector"] == {"pool": "gpu"}
    assert "affinity" not in pod


def test_taints_of_the_spec_are_tolerated_besides_the_usual_one() -> None:
    pod = _pod(remove_manifests(Options(tolerations=(Toleration.parse("pool=gpu:NoSchedule"),))))
    assert [toleration["key"] for toleration in pod["tolerations"]] == ["nvidia.com/gpu", "pool"]


def test_remove_replaces_apply_and_brings_no_files() -> None:
    applied, removed = apply_manifests(build(resolve(Spec())), Options()), remove_manifests(Options())
    assert [one["metadata"] for one in applied] == [one["metadata"] for one in removed]
    assert list(_by_kind(removed)["ConfigMap"]["data"]) == ["prepare-node.sh"]
    assert _pod(removed)["initContainers"][0]["command"][2:] == ["remove", "/host"]


def test_pods_start_anew_when_what_they_install_changes() -> None:
    def annotations(**values: Any) -> Any:
        manifests = apply_manifests(build(resolve(with_values(Spec(), values))), Options())
        return _by_kind(manifests)["DaemonSet"]["spec"]["template"]["metadata"]["annotations"]

    assert annotations() == annotations()
    assert annotations() != annotations(modules=("nvidia_peermem",))


def test_the_text_is_the_manifests_as_a_stream() -> None:
    manifests = apply_manifests(build(resolve(Spec())), Options())
    text = manifests_text(manifests, "what it is").decode()
    assert text.startswith("# what it is\napiVersion: v1\n")
    assert list(yaml.safe_load_all(text)) == manifests


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--image", "busybox:latest"), "'busybox:latest' is not an image with a tag other than latest"),
        (("--namespace", "GPU"), "'GPU' is not the name of a Kubernetes object"),
        (("--node-selector", "gpu"), "'gpu' is not a label of nodes such as gpu=yes"),
    ],
)
def test_wrong_options_are_a_usage_error(
    arguments: tuple[str, str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["node-prep", *arguments]) == 2
    assert says in capsys.readouterr().err


def test_options_reach_the_manifests(capfd: pytest.CaptureFixture[str]) -> None:
    options = ["--namespace", "nodes", "--image", "mirror.example.com/busybox:1.36.1", "--node-selector", "a.b/c=d=e"]
    assert run(["node-prep", "--remove", "--node-selector", "pool=gpu", *options]) == 2
    assert "--node-selector" in capfd.readouterr().err
    options[-1] = "a.b/c=d"
    assert run(["node-prep", "--remove", "--node-selector", "pool=gpu", *options]) == 0
    manifests = list(yaml.safe_load_all(capfd.readouterr().out))
    expected = Options(
        namespace="nodes", image="mirror.example.com/busybox:1.36.1", node_selector={"pool": "gpu", "a.b/c": "d"}
    )
    assert manifests == remove_manifests(expected)


def test_check_writes_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["node-prep", "--check"]) == 0
    assert capfd.readouterr().out == ""
