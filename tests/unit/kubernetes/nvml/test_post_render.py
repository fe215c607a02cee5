from __future__ import annotations

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from flatcar_gpu.errors import Failure, InvalidInput
from flatcar_gpu.kubernetes.nvml.manifests import split
from flatcar_gpu.kubernetes.nvml.pattern import Liveness, Options, Scheme
from flatcar_gpu.kubernetes.nvml.post_render import post_render
from flatcar_gpu.kubernetes.nvml.selection import Selector
from tests.manifests import KEPLER, named, objects, pod_spec, unordered, with_entry

KEPLER_SELECTOR = Selector("kepler")


def render(manifests: str, selector: Selector = KEPLER_SELECTOR, options: Options | None = None) -> str:
    return post_render(manifests.encode(), "test.yaml", selector, options or Options())[0].decode()


def notes(manifests: str, selector: Selector = KEPLER_SELECTOR, options: Options | None = None) -> list[str]:
    _, report = post_render(manifests.encode(), "test.yaml", selector, options or Options())
    return [problem.message for problem in report]


def failure(manifests: str, selector: Selector = KEPLER_SELECTOR, options: Options | None = None) -> str:
    """The message that the user sees."""
    with pytest.raises(Failure) as caught:
        render(manifests, selector, options)
    error = caught.value
    return error.report.as_text() if isinstance(error, InvalidInput) else f"{error.message}\n{error.hint}"


def workload(name: str = "agent", kind: str = "DaemonSet", namespace: str = "", containers: str = "agent") -> str:
    where = f", namespace: {namespace}" if namespace else ""
    listed = ", ".join(f"{{name: {entry}, image: example/{entry}:1}}" for entry in containers.split())
    spec = f"{{template: {{spec: {{containers: [{listed}]}}}}}}"
    if kind == "CronJob":
        spec = f"{{jobTemplate: {{spec: {spec}}}}}"
    if kind == "Pod":
        spec = f"{{containers: [{listed}]}}"
    return f"apiVersion: apps/v1\nkind: {kind}\nmetadata: {{name: {name}{where}}}\nspec: {spec}\n"


class TestStream:
    def test_all_other_documents_stay_byte_for_byte(self) -> None:
        before = (
            "# c\r\n---\r\n\r\n--- # empty\n...\n%YAML 1.1\n---\nkind:   ConfigMap\ndata: {a: '---', b: \"...\"}\n...\n"
        )
        after = "--- {kind: Other, metadata: {name: kepler}}\n---\n\n# kepler, DaemonSet\n---\nlast: one"
        result = render(f"{before}---\n{KEPLER}{after}")
        assert result.startswith(before)
        assert result.endswith(after)
        assert [tree for tree in objects(result) if tree.get("kind") != "DaemonSet"] == [
            tree for tree in objects(f"{before}---\n{KEPLER}{after}") if tree.get("kind") != "DaemonSet"
        ]

    def test_comments_and_form_of_the_changed_document_stay(self) -> None:
        result = render(KEPLER).splitlines()
        added = [line for line in result if line not in KEPLER.splitlines()]
        removed = [line for line in KEPLER.splitlines() if line not in result]
        assert removed == ["              path: /metrics"]
        assert "            - name: NODE_NAME # of the node" in result
        assert "              path: /" in added

    def test_second_pass_changes_nothing(self) -> None:
        once = render(KEPLER)
        assert render(once) == once

    @pytest.mark.parametrize(
        "other", [Options(driver_root="auto", wait_seconds=60, lib_dirs=("lib64",)), Options(copies=False)]
    )
    def test_other_options_replace_what_an_earlier_pass_put_there(self, other: Options) -> None:
        plain, changed = render(KEPLER), render(KEPLER, options=other)
        assert unordered(pod_spec(render(changed))) == unordered(pod_spec(plain))
        assert unordered(pod_spec(render(plain, options=other))) == unordered(pod_spec(changed))

    @pytest.mark.parametrize("newline", ["\n", "\r\n"])
    def test_line_ends_stay(self, newline: str) -> None:
        result = render(KEPLER.replace("\n", newline))
        assert result.count("\n") == result.count(newline)
        assert pod_spec(result) == pod_spec(render(KEPLER))

    def test_json_stays_json(self) -> None:
        text = json.dumps(objects(KEPLER)[1], indent=4)
        assert json.loads(render(text))["spec"]["template"]["spec"] == pod_spec(render(KEPLER))

    def test_workload_in_a_list(self) -> None:
        items = objects(KEPLER)
        text = yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": items}, sort_keys=False)
        result = objects(render(text))[0]
        assert result["items"][1]["spec"]["template"]["spec"] == pod_spec(render(KEPLER))
        assert [result["items"][0], result["items"][2]] == [items[0], items[2]]
        assert render(render(text)) == render(text)

    def test_anchors_are_understood(self) -> None:
        text = (
            KEPLER.replace("metadata:\n      labels:", "metadata: &meta\n      labels:")
            .replace("matchLabels: {app: kepler}", "matchLabels: &labels {app: kepler}")
            .replace("labels: {app: kepler}", "labels: *labels")
        )
        assert pod_spec(render(text)) == pod_spec(render(KEPLER))

    def test_byte_order_mark_stays(self) -> None:
        assert render("\ufeff---\n" + KEPLER).startswith("\ufeff---\n")

    def test_much_input(self) -> None:
        crowd = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {kepler: text}\n" * 20_000
        result = render(crowd + "---\n" + KEPLER)
        assert result.startswith(crowd)
        assert result.removeprefix(crowd + "---\n") == render(KEPLER)

    @given(
        st.lists(
            st.sampled_from(
                ["---\n", "---", "--- #\r\n", "...\n", "a: 1\n", " - x\n", "# c\n", "\n", "----\n", "\ufeff"]
            )
        )
    )
    def test_documents_joined_are_the_text(self, pieces: list[str]) -> None:
        text = "".join(pieces)
        documents = split(text, "test.yaml")
        assert "".join(document.text for document in documents) == text
        assert all(document.line == text[: text.index(document.text)].count("\n") + 1 for document in documents[:1])


class TestSelection:
    @pytest.mark.parametrize("kind", ["DaemonSet", "Deployment", "StatefulSet", "ReplicaSet", "Job", "CronJob", "Pod"])
    def test_every_kind_with_a_pod(self, kind: str) -> None:
        result = objects(render(workload(kind=kind), Selector("agent")))[0]
        assert "copy-nvml" in yaml.safe_dump(result)

    def test_unknown_name_is_an_error_that_names_what_is_there(self) -> None:
        message = failure(KEPLER + "---\n" + workload(), Selector("keppler"))
        assert message == (
            "there is no workload keppler in the manifests; "
            "they have: DaemonSet kepler in namespace kepler, DaemonSet agent\ncorrect --name"
        )

    def test_no_workload_at_all(self) -> None:
        assert "they have no workloads at all" in failure("")

    def test_kind_decides(self) -> None:
        text = workload() + "---\n" + workload(kind="Deployment")
        message = failure(text, Selector("agent"))
        assert "test.yaml:1:1: error: document 1: DaemonSet agent is one of 2 that fit workload agent" in message
        assert "test.yaml:6:1: error: document 2: Deployment agent is one of 2" in message
        assert "say which one with --kind" in message
        first, second = objects(render(text, Selector("agent", kind="Deployment")))
        assert "initContainers" not in first["spec"]["template"]["spec"]
        assert "initContainers" in second["spec"]["template"]["spec"]

    def test_namespace_decides(self) -> None:
        text = workload(namespace="a") + "---\n" + workload(namespace="b") + "---\n" + workload()
        assert "say which one with --namespace" in failure(text, Selector("agent"))
        changed = [
            "initContainers" in tree["spec"]["template"]["spec"]
            for tree in objects(render(text, Selector("agent", namespace="b")))
        ]
        assert changed == [False, True, False]

    def test_manifest_without_namespace_fits_any(self) -> None:
        assert "copy-nvml" in render(workload(), Selector("agent", namespace="monitoring"))
        assert "no workload agent in namespace x" in failure(workload(namespace="a"), Selector("agent", namespace="x"))

    def test_the_same_object_twice(self) -> None:
        assert "they are the same object" in failure(workload() + "---\n" + workload(), Selector("agent"))

    def test_container_decides(self) -> None:
        text = workload(name="monitor", containers="agent sidecar")
        message = failure(text, Selector("monitor"))
        assert "DaemonSet monitor has several containers: agent, sidecar" in message
        containers = named(pod_spec(render(text, Selector("monitor", container="agent")))["containers"])
        assert "volumeMounts" in containers["agent"]
        assert containers["sidecar"] == {"name": "sidecar", "image": "example/sidecar:1"}
        assert "has no container 'agnet'; it has: agent, sidecar" in failure(
            text, Selector("monitor", container="agnet")
        )

    @pytest.mark.parametrize(("name", "containers"), [("agent", "agent sidecar"), ("node-power", "kepler sidecar")])
    def test_container_called_like_the_workload_or_kepler_is_taken(self, name: str, containers: str) -> None:
        found = pod_spec(render(workload(name=name, containers=containers), Selector(name)))["containers"]
        assert ["volumeMounts" in container for container in found] == [True, False]

    def test_workload_without_pod_or_containers(self) -> None:
        head = "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: agent}\n"
        assert "DaemonSet agent has no spec.template.spec" in failure(head, Selector("agent"))
        text = head + "spec: {template: {spec: {containers: []}}}\n"
        assert "DaemonSet agent has no containers" in failure(text, Selector("agent"))


class TestErrors:
    def test_broken_document_is_named_with_its_line(self) -> None:
        message = failure("# c\n---\na: 1\n---\nkind: DaemonSet\nmetadata: {name: kepler\n")
        assert message.startswith("test.yaml:7:1: error: document 2 is no YAML for Kubernetes: ")

    def test_broken_document_that_does_not_matter_passes(self) -> None:
        assert render("a: b: c\n---\n" + KEPLER).startswith("a: b: c\n---\n")

    def test_no_utf_8(self) -> None:
        with pytest.raises(InvalidInput) as caught:
            post_render(b"a: 1\nb: \xff\n", "test.yaml", KEPLER_SELECTOR, Options())
        assert caught.value.report.as_text().startswith("test.yaml:2:4: error: this is no UTF-8")

    def test_chart_that_copies_itself(self) -> None:
        text = with_entry(KEPLER, "volumeMounts", "{name: nvml-libs, mountPath: /usr/local/nvidia/lib64}")
        message = failure(text)
        assert "container 'kepler' already mounts volume 'nvml-libs' at /usr/local/nvidia/lib64" in message
        assert "kepler-values" in message

    def test_search_path_from_elsewhere(self) -> None:
        text = with_entry(KEPLER, "env", "{name: LD_LIBRARY_PATH, valueFrom: {configMapKeyRef: {name: c, key: k}}}")
        assert "LD_LIBRARY_PATH of container 'kepler' is a valueFrom" in failure(text)

    @pytest.mark.parametrize("name", ["nvml-copy", "nvml-driver-root"])
    def test_volume_of_the_pattern_s_name_that_is_something_else(self, name: str) -> None:
        text = with_entry(KEPLER, "volumes", f"{{name: {name}, configMap: {{name: c}}}}")
        assert f"the pod has a volume {name!r} of its own" in failure(text)


class TestJoining:
    def test_search_path_is_joined_in_place(self) -> None:
        text = with_entry(KEPLER, "env", "{name: LD_LIBRARY_PATH, value: '/opt/lib:$(X)'}")
        (container,) = pod_spec(render(text))["containers"]
        assert container["env"][0] == {"name": "LD_LIBRARY_PATH", "value": "/usr/local/nvidia/lib64:/opt/lib:$(X)"}
        assert any("$(VAR)" in note for note in notes(text))

    def test_device_variables_that_are_there_are_left(self) -> None:
        text = with_entry(KEPLER, "env", "{name: NVIDIA_VISIBLE_DEVICES, value: void}")
        (container,) = pod_spec(render(text))["containers"]
        assert named(container["env"])["NVIDIA_VISIBLE_DEVICES"]["value"] == "void"

    @pytest.mark.parametrize(
        "toleration",
        [
            "{operator: Exists}",
            "{key: nvidia.com/gpu, operator: Exists}",
            "{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}",
        ],
    )
    def test_taint_that_is_tolerated_needs_no_more(self, toleration: str) -> None:
        text = with_entry(KEPLER, "tolerations", toleration)
        assert len(pod_spec(render(text))["tolerations"]) == 2

    def test_former_volume_stays_where_another_container_has_it(self) -> None:
        root = "{name: nvidia-driver, hostPath: {path: /run/nvidia/driver/}}"
        mount = "{name: nvidia-driver, mountPath: /driver}"
        text = with_entry(with_entry(KEPLER, "volumes", root), "volumeMounts", mount)
        text = with_entry(text, "containers", f"{{name: other, volumeMounts: [{mount}]}}")
        spec = pod_spec(render(text))
        assert "nvidia-driver" in named(spec["volumes"])
        assert [list(named(container["volumeMounts"])) for container in spec["containers"]] == [
            ["nvidia-driver"],
            ["sysfs", "nvml-copy"],
        ]

    def test_other_init_containers_stay_first(self) -> None:
        text = KEPLER.replace(
            "      containers:\n", "      initContainers:\n        - {name: wait, image: x}\n      containers:\n"
        )
        assert list(named(pod_spec(render(text))["initContainers"])) == ["wait", "copy-nvml"]


class TestProbes:
    def probe(self, text: str = KEPLER, **options: object) -> dict[str, object]:
        (container,) = pod_spec(render(text, options=Options(**options)))["containers"]  # type: ignore[arg-type]
        return {key: value for key, value in container.items() if key.endswith("Probe")}

    def test_image_with_livez_as_the_user_says(self) -> None:
        readiness = KEPLER.replace(
            "livenessProbe:\n", "readinessProbe: {httpGet: {path: /metrics, port: http}}\n          livenessProbe:\n"
        )
        probes = self.probe(readiness, liveness=Liveness.LIVEZ)
        assert probes["livenessProbe"]["httpGet"] == {"path": "/probe/livez", "port": "http"}  # type: ignore[index]
        assert probes["readinessProbe"] == {"httpGet": {"path": "/probe/readyz", "port": "http"}, "timeoutSeconds": 5}

    def test_path_that_is_no_trap_is_left(self) -> None:
        probes = self.probe(KEPLER.replace("path: /metrics", "path: /probe/livez"))
        assert probes["livenessProbe"]["httpGet"]["path"] == "/probe/livez"  # type: ignore[index]

    def test_longer_timeout_is_left(self) -> None:
        probes = self.probe(KEPLER.replace("periodSeconds: 60", "timeoutSeconds: 30"), liveness=Liveness.TIMEOUT)
        assert probes["livenessProbe"]["timeoutSeconds"] == 30  # type: ignore[index]
        assert probes["livenessProbe"]["httpGet"]["path"] == "/metrics"  # type: ignore[index]

    def test_scheme_and_port_stay_unless_told(self) -> None:
        secure = KEPLER.replace("path: /metrics", "path: /metrics\n              scheme: HTTPS")
        assert self.probe(secure)["livenessProbe"]["httpGet"] == {"path": "/", "port": "http", "scheme": "HTTPS"}  # type: ignore[index]
        assert self.probe(scheme=Scheme.HTTPS)["livenessProbe"]["httpGet"]["scheme"] == "HTTPS"  # type: ignore[index]

    def test_password_leaves_only_the_port_to_probe(self) -> None:
        probe = self.probe(basic_auth=True)["livenessProbe"]
        assert probe == {
            "tcpSocket": {"port": "http"},
            "initialDelaySeconds": 10,
            "periodSeconds": 60,
            "timeoutSeconds": 5,
        }

    def test_off_and_keep(self) -> None:
        assert self.probe(liveness=Liveness.OFF) == {}
        assert self.probe(liveness=Liveness.KEEP)["livenessProbe"]["httpGet"]["path"] == "/metrics"  # type: ignore[index]

    def test_other_agents_are_told(self) -> None:
        text = KEPLER.replace("sustainable_computing_io/kepler:", "example/agent:")
        assert "its probes keep what they ask for and get a timeout of 5 seconds" in notes(text)

    def test_no_probe_is_told_and_none_made(self) -> None:
        text = workload()
        assert "the container has no probes: nothing to change about them" in notes(text, Selector("agent"))
        assert "Probe" not in render(text, Selector("agent"))


class TestNotes:
    @pytest.mark.parametrize(
        ("image", "says"),
        [
            ("example/agent:1-alpine", "does not load under musl"),
            ("docker.io/library/telegraf:1.30", "runs the program nvidia-smi"),
            ("utkuozdemir/nvidia_gpu_exporter:1.2", "unless it is the NVML build"),
            ("nvcr.io/nvidia/k8s/dcgm-exporter:4.2", "profiling metrics"),
            ("ghcr.io/coroot/coroot-node-agent@sha256:0", "the copy is not needed"),
        ],
    )
    def test_agents_that_cannot_use_the_copy_or_need_none(self, image: str, says: str) -> None:
        text = KEPLER.replace("quay.io/sustainable_computing_io/kepler:v0.11.4", image)
        assert any(says in note for note in notes(text))

    def test_kepler_has_nothing_but_its_namespace_to_tell(self) -> None:
        (note,) = notes(KEPLER)
        assert note.startswith("namespace kepler must admit hostPath volumes")

    def test_labelled_namespace_needs_no_note(self) -> None:
        label = "pod-security.kubernetes.io/enforce: privileged"
        assert notes(f"kind: Namespace\nmetadata: {{name: kepler, labels: {{{label}}}}}\n---\n{KEPLER}") == []
        assert notes(f"kind: Namespace\nmetadata: {{name: other, labels: {{{label}}}}}\n---\n{KEPLER}") != []

    def test_unprivileged_agents_lack_devices(self) -> None:
        assert any("not privileged" in note for note in notes(KEPLER.replace("privileged: true", "privileged: false")))

    def test_options_that_ask_for_gpu_nodes(self) -> None:
        wanting = Options(wait_seconds=60, runtime_class="nvidia")
        assert sum("without" in note for note in notes(KEPLER, options=wanting)) == 2
        content = Options(wait_seconds=60, runtime_class="nvidia", gpu_nodes_only=True)
        assert sum("without" in note for note in notes(KEPLER, options=content)) == 0
