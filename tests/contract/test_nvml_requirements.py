"""One test for each requirement on the pattern.

R1 to R29 come from sustainable-computing-io/kepler#2489, its review and the reports in it; A1 to A13 were found since,
by trials and in reports of other agents.
"""

from __future__ import annotations

import json
import re
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml

from flatcar_gpu.errors import Failure
from flatcar_gpu.kubernetes.nvml.kepler import kepler_values
from flatcar_gpu.kubernetes.nvml.kustomize import kustomization_text, patch_for_target, patch_text, patch_without_target
from flatcar_gpu.kubernetes.nvml.liveness import TIMEOUT
from flatcar_gpu.kubernetes.nvml.pattern import LIB_DIR, PINNED_IMAGE, Liveness, Options, copy_script
from flatcar_gpu.kubernetes.nvml.post_render import post_render
from flatcar_gpu.kubernetes.nvml.selection import Selector
from tests.manifests import KEPLER, named, objects, pod_spec, with_entry
from tests.nvml_sandbox import Sandbox, chain

SELECTOR = Selector("kepler")
SCRIPT = copy_script()
MULTIARCH = "usr/lib/x86_64-linux-gnu"


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    return Sandbox(tmp_path)


def rendered(manifests: str = KEPLER, **options: Any) -> str:
    return post_render(manifests.encode(), "test.yaml", SELECTOR, Options(**options))[0].decode()


def pod(manifests: str = KEPLER, **options: Any) -> dict[str, Any]:
    return pod_spec(rendered(manifests, **options))


def init_container(**options: Any) -> dict[str, Any]:
    (container,) = pod(**options)["initContainers"]
    return dict(container)


def agent(manifests: str = KEPLER, **options: Any) -> dict[str, Any]:
    (container,) = pod(manifests, **options)["containers"]
    return dict(container)


def variables(container: dict[str, Any]) -> dict[str, Any]:
    return {entry["name"]: entry.get("value") for entry in container["env"]}


def test_r01_first_statement_is_set_e() -> None:
    statements = [line for line in SCRIPT.splitlines() if line and not line.startswith("#")]
    assert statements[0] == "set -e"


def test_r02_looks_only_in_the_three_folders(sandbox: Sandbox) -> None:
    for folder in ("usr/lib", "lib", "opt/nvidia/usr/lib64", "usr/lib64/nvidia", "proc/usr/lib64"):
        sandbox.library(folder)
    # Links that lead into what the kernel shows are not followed either.
    (sandbox.root / "usr/lib64/libnvidia-ml.so.1").symlink_to("/proc/usr/lib64/libnvidia-ml.so.580.65.06")
    result = sandbox.run()
    assert (result.code, result.entries()) == (0, {})
    assert re.search(r"\bfind\b(?!_)", re.sub("#.*", "", SCRIPT)) is None


def test_r03_missing_folder_and_unmatched_names_are_no_error(sandbox: Sandbox) -> None:
    (sandbox.root / "usr/lib64").mkdir(parents=True)
    assert sandbox.run().code == 0


def test_r04_copies_nothing_but_the_library(sandbox: Sandbox) -> None:
    folder = sandbox.library("usr/lib64").parent
    for name in ("libc.so.6", "ld-linux-x86-64.so.2", "libcuda.so.580.65.06", "libnvidia-glcore.so.580.65.06"):
        (folder / name).write_text("not this")
    assert sandbox.run().entries() == chain()


def test_r05_links_stay_links(sandbox: Sandbox) -> None:
    sandbox.library("usr/lib64").write_bytes(b"N" * 100_000)
    sandbox.run()
    assert [path.name for path in sandbox.target.iterdir() if not path.is_symlink()] == ["libnvidia-ml.so.580.65.06"]
    assert sum(path.lstat().st_size for path in sandbox.target.iterdir()) < 100_100
    assert "cp -P" in SCRIPT
    assert "cp -L" not in SCRIPT


def test_r06_failed_copy_fails_the_init_container(sandbox: Sandbox) -> None:
    sandbox.library("usr/lib64")
    assert sandbox.run(mount_options="ro").code == 1
    assert "|| true" not in SCRIPT


def test_r07_none_found_is_fine_and_told(sandbox: Sandbox) -> None:
    result = sandbox.run()
    assert result.code == 0
    assert result.output.startswith("No NVML libraries found at /run-nvidia")


@pytest.mark.parametrize(("plain_link", "count"), [(True, 3), (False, 2)])
def test_r08_success_is_told_with_the_count(sandbox: Sandbox, plain_link: bool, count: int) -> None:
    sandbox.library("usr/lib64", plain_link=plain_link)
    result = sandbox.run()
    assert (result.code, result.output) == (0, f"Copied {count} NVML library file(s) to /nvml-libs\n")


def test_r09_done_at_once_with_a_live_procfs_inside(sandbox: Sandbox) -> None:
    """With FIFOs where a walk comes by: to open one of them would block until the time is up."""
    sandbox.library(MULTIARCH)
    for place in ("proc", "usr/lib64", "usr/lib", f"{MULTIARCH}/nvidia", "etc", "opt"):
        (sandbox.root / place).mkdir(parents=True, exist_ok=True)
    places = ("usr/lib64", "usr/lib", MULTIARCH, f"{MULTIARCH}/nvidia", "etc")
    fifos = " ".join(f'"$2/{place}/fifo"' for place in places)
    live = f'mkfifo {fifos} "$2/opt/libnvidia-ml.so.1"; mount -t proc proc "$2/proc"; '
    result = sandbox.run(before=live, timeout=5)
    assert (result.code, result.entries()) == (0, chain())


def test_r09_proc_is_never_opened(sandbox: Sandbox) -> None:
    """With FIFOs for proc itself and for the library in the first folder, opening either would block."""
    sandbox.library(MULTIARCH)
    (sandbox.root / "usr/lib64").mkdir(parents=True)
    result = sandbox.run(before='mkfifo "$2/proc" "$2/usr/lib64/libnvidia-ml.so.1"', timeout=5)
    assert (result.code, result.entries()) == (0, chain())


def test_r10_script_is_the_same_bytes_in_every_output() -> None:
    blind = patch_without_target(SELECTOR, Options())[0]
    patch = patch_for_target(KEPLER.encode(), "test.yaml", SELECTOR, Options())[0]
    kustomization = yaml.safe_load(kustomization_text(patch, ["daemonset.yaml"]))["patches"][0]["patch"]
    compact = post_render(_as_json(KEPLER).encode(), "test.json", SELECTOR, Options())[0].decode()
    outputs = [
        rendered(),
        rendered(KEPLER.replace("\n", "\r\n")),
        compact,
        patch_text(patch),
        patch_text(blind),
        kustomization,
    ]
    file = Path("flatcar_gpu/kubernetes/nvml/copy-nvml.sh").read_bytes()
    for output in outputs:
        (container,) = pod_spec(output)["initContainers"]
        assert container["args"] == [file.decode("ascii")]


def test_r11_runs_as_root_whatever_the_image_says() -> None:
    context = init_container()["securityContext"]
    assert (context["runAsUser"], context["runAsGroup"], context["runAsNonRoot"]) == (0, 0, False)


def test_r12_root_file_system_is_read_only() -> None:
    assert init_container()["securityContext"]["readOnlyRootFilesystem"] is True


def test_r13_privileges_cannot_be_gained() -> None:
    assert init_container()["securityContext"]["allowPrivilegeEscalation"] is False


def test_r14_all_capabilities_are_dropped() -> None:
    assert init_container()["securityContext"]["capabilities"] == {"drop": ["ALL"]}


def test_r15_init_container_is_not_privileged() -> None:
    assert init_container()["securityContext"]["privileged"] is False


def test_r16_image_is_pinned_and_can_be_replaced() -> None:
    assert init_container()["image"] == "busybox:1.36.1"
    assert init_container()["imagePullPolicy"] == "IfNotPresent"
    mirrored = "registry.example:5000/mirror/busybox:1.36.1-musl@sha256:" + "0" * 64
    assert PINNED_IMAGE.fits(mirrored)
    assert init_container(image=mirrored)["image"] == mirrored
    for image in ("busybox", "busybox:latest", "registry.example:5000/busybox"):
        assert not PINNED_IMAGE.fits(image)


def test_r17_driver_root_is_read_only_and_only_in_the_init_container() -> None:
    assert named(init_container()["volumeMounts"])["nvml-driver-root"]["readOnly"] is True
    assert "nvml-driver-root" not in named(agent()["volumeMounts"])


def test_r18_driver_root_is_created_on_nodes_without_one() -> None:
    volume = named(pod()["volumes"])["nvml-driver-root"]
    assert volume == {
        "name": "nvml-driver-root",
        "hostPath": {"path": "/run/nvidia/driver", "type": "DirectoryOrCreate"},
    }


def test_r19_volume_of_the_library_has_a_size_limit() -> None:
    assert named(pod()["volumes"])["nvml-copy"]["emptyDir"] == {"sizeLimit": "200Mi"}
    assert named(pod(size_limit="64Mi")["volumes"])["nvml-copy"]["emptyDir"] == {"sizeLimit": "64Mi"}


def test_r20_agent_sees_the_library_read_only() -> None:
    mount = named(agent()["volumeMounts"])["nvml-copy"]
    assert mount == {"name": "nvml-copy", "mountPath": "/usr/local/nvidia/lib64", "readOnly": True}


def test_r21_search_path_is_static() -> None:
    assert variables(agent())["LD_LIBRARY_PATH"] == "/usr/local/nvidia/lib64"
    assert "$(" not in yaml.safe_dump(pod()["containers"])


@pytest.mark.parametrize(
    ("driver_root", "host_path", "kind", "mount"),
    [
        ("container", "/run/nvidia/driver", "DirectoryOrCreate", "/run-nvidia"),
        ("service", "/opt/nvidia/current", "DirectoryOrCreate", "/run-nvidia"),
        ("sysext", "/usr/lib64", "Directory", "/run-nvidia/usr/lib64"),
        ("/home/kubernetes/bin/nvidia", "/home/kubernetes/bin/nvidia", "DirectoryOrCreate", "/run-nvidia"),
        ("/", "/", "DirectoryOrCreate", "/run-nvidia"),
    ],
)
def test_r22_driver_root_can_be_chosen(driver_root: str, host_path: str, kind: str, mount: str) -> None:
    spec = pod(driver_root=driver_root)
    assert named(spec["volumes"])["nvml-driver-root"]["hostPath"] == {"path": host_path, "type": kind}
    assert named(spec["initContainers"][0]["volumeMounts"])["nvml-driver-root"]["mountPath"] == mount
    assert variables(spec["initContainers"][0])["NVML_DRIVER_ROOTS"] == "/run-nvidia"


@pytest.mark.parametrize("copies", [True, False])
def test_r23_device_variables_are_always_there(copies: bool) -> None:
    found = variables(agent(copies=copies, runtime_class="nvidia"))
    assert (found["NVIDIA_VISIBLE_DEVICES"], found["NVIDIA_MIG_MONITOR_DEVICES"]) == ("all", "all")
    assert ("LD_LIBRARY_PATH" in found) is copies


def test_r24_runtime_class_only_when_asked_for() -> None:
    assert "runtimeClassName" not in pod()
    assert pod(runtime_class="nvidia")["runtimeClassName"] == "nvidia"


def test_r25_gpu_off_yields_nothing_of_it() -> None:
    values, report = kepler_values(Options(client_label=True, runtime_class="nvidia"), has_nvml=True, gpu=False)
    assert values == {"config": {"experimental": {"gpu": {"enabled": False}}}}
    assert not len(report)


def test_r26_knobs_of_the_chart_are_not_below_config() -> None:
    values, _ = kepler_values(Options(), has_nvml=True)
    assert values["config"] == {"experimental": {"gpu": {"enabled": True}}}
    assert values["daemonset"]["nvidia"] == {
        "driverPath": "/run/nvidia/driver",
        "nvmlInitImage": {"repository": "busybox", "tag": "1.36.1"},
    }


def test_r27_mount_of_the_whole_driver_root_goes() -> None:
    former = _with_former_mount(KEPLER)
    assert "nvidia-driver" in named(pod_spec(former)["volumes"])
    spec = pod(former)
    (container,) = spec["containers"]
    assert "nvidia-driver" not in named(spec["volumes"])
    assert "/run/nvidia/driver" not in named(container["volumeMounts"], "mountPath")
    assert variables(container)["LD_LIBRARY_PATH"] == "/usr/local/nvidia/lib64:/opt/lib"


def test_r28_taint_is_tolerated_and_placement_is_optional() -> None:
    gpu = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
    control_plane = {"key": "node-role.kubernetes.io/control-plane", "operator": "Exists", "effect": "NoSchedule"}
    assert pod()["tolerations"] == [control_plane, gpu]
    assert "nodeSelector" not in pod()
    assert pod(gpu_nodes_only=True)["nodeSelector"] == {"nvidia.com/gpu.present": "true"}
    values, _ = kepler_values(Options(gpu_nodes_only=True), has_nvml=False)
    assert gpu in values["daemonset"]["tolerations"]
    assert values["daemonset"]["nodeSelector"] == {"nvidia.com/gpu.present": "true"}


def test_r29_probe_outlasts_a_collection_of_two_seconds() -> None:
    probe = agent()["livenessProbe"]
    assert probe["httpGet"] == {"path": "/", "port": "http"}
    assert probe["timeoutSeconds"] == TIMEOUT == 5
    assert (probe["initialDelaySeconds"], probe["periodSeconds"]) == (10, 60)
    other = KEPLER.replace("sustainable_computing_io/kepler:", "example/agent:")
    probe = agent(other)["livenessProbe"]
    assert (probe["httpGet"]["path"], probe["timeoutSeconds"]) == ("/metrics", 5)


def test_a01_what_an_earlier_run_left_goes_first(sandbox: Sandbox) -> None:
    (sandbox.target / "libnvidia-ml.so.550.1.1").write_text("part of a copy")
    (sandbox.target / "libnvidia-ml.so.1").symlink_to("libnvidia-ml.so.550.1.1")
    assert sandbox.run().entries() == {}
    sandbox.library("usr/lib64")
    (sandbox.target / "libnvidia-ml.so.1").mkdir()
    assert sandbox.run().entries() == chain()


def test_a02_what_is_no_file_is_skipped(sandbox: Sandbox) -> None:
    (sandbox.root / "usr/lib64/libnvidia-ml.so.1").mkdir(parents=True)
    sandbox.library(MULTIARCH)
    assert sandbox.run().entries() == chain()


def test_a03_absolute_links_are_resolved_inside_the_driver_root(sandbox: Sandbox) -> None:
    sandbox.library("opt/driver")
    (sandbox.root / "usr").mkdir()
    (sandbox.root / "usr/lib64").symlink_to("/opt/driver")
    # The same path in the container must not be taken for it.
    (sandbox.system / "opt/driver").mkdir(parents=True)
    (sandbox.system / "opt/driver/libnvidia-ml.so.1").write_text("not the driver's")
    assert sandbox.run().entries() == chain()


def test_a04_one_version_from_the_first_folder_that_can_be_loaded(sandbox: Sandbox) -> None:
    sandbox.library("usr/lib64", "580.65.06")
    (sandbox.root / "usr/lib64/libnvidia-ml.so.1").unlink()
    sandbox.library(MULTIARCH, "570.1.1")
    sandbox.library("usr/lib/aarch64-linux-gnu", "560.1.1")
    assert sandbox.run().entries() == chain("570.1.1")


def test_a05_only_versioned_files_are_told(sandbox: Sandbox) -> None:
    sandbox.library("usr/lib64").with_name("libnvidia-ml.so.1").unlink()
    result = sandbox.run()
    assert "Skipped /run-nvidia/usr/lib64/libnvidia-ml.so.580.65.06" in result.output
    assert result.last_line == "No NVML libraries found at /run-nvidia"
    assert result.entries() == {}


@pytest.mark.parametrize("folder", ["usr/lib", "usr/lib32", "usr/lib/i386-linux-gnu"])
def test_a06_folders_of_32_bit_libraries_are_left(sandbox: Sandbox, folder: str) -> None:
    sandbox.library(folder)
    assert sandbox.run().entries() == {}


def test_a07_more_folders_can_be_named(sandbox: Sandbox) -> None:
    assert variables(init_container(lib_dirs=("lib64", "lib64-aarch64")))["NVML_LIB_DIRS"] == "lib64 lib64-aarch64"
    sandbox.library("lib64")
    assert sandbox.run(NVML_LIB_DIRS="lib64-aarch64 lib64").entries() == chain()
    assert not any(LIB_DIR.fits(text) for text in ("proc", "sys/x", "/lib64", "../lib64", "a/../b", "a b", ""))


def test_a08_waits_for_a_late_driver_but_not_for_ever(sandbox: Sandbox) -> None:
    assert variables(init_container(wait_seconds=300))["NVML_WAIT_SECONDS"] == "300"
    result = sandbox.run(NVML_WAIT_SECONDS="1")
    assert (result.code, result.last_line) == (0, "No NVML libraries found at /run-nvidia within 1 seconds")
    sandbox.library("late/usr/lib64")
    late = '(sleep 1; mv "$2/late/usr" "$2/usr") & '
    result = sandbox.run(before=late, NVML_WAIT_SECONDS="10")
    assert result.output.startswith("Waiting up to 10 seconds for libnvidia-ml.so.1 at /run-nvidia\n")
    assert result.entries() == chain()


@pytest.mark.parametrize(
    ("driver_root", "host_path", "root"),
    [
        ("container", "/run/nvidia", "/run-nvidia/driver"),
        ("service", "/opt/nvidia", "/run-nvidia/current"),
        ("/srv/drivers/now", "/srv/drivers", "/run-nvidia/now"),
        ("/drivers", "/drivers", "/run-nvidia"),
    ],
)
def test_a09_who_waits_mounts_the_folder_above(driver_root: str, host_path: str, root: str) -> None:
    spec = pod(driver_root=driver_root, wait_seconds=60)
    mount = named(spec["initContainers"][0]["volumeMounts"])["nvml-driver-root"]
    assert named(spec["volumes"])["nvml-driver-root"]["hostPath"]["path"] == host_path
    assert mount["mountPropagation"] == "HostToContainer"
    assert variables(spec["initContainers"][0])["NVML_DRIVER_ROOTS"] == root
    assert "mountPropagation" not in named(init_container(driver_root=driver_root)["volumeMounts"])["nvml-driver-root"]


def test_a09_a_mount_made_while_waiting_is_seen(sandbox: Sandbox) -> None:
    """The driver container mounts its root below /run/nvidia after the init container has started."""
    sandbox.library("usr/lib64")
    parent = sandbox.root.parent / "run-nvidia"
    (parent / "driver").mkdir(parents=True)
    late = (
        f"mount --bind {parent} {parent}; mount --make-shared {parent}; "
        f'(sleep 1.5; mount --bind "{sandbox.root}" {parent}/driver) & '
    )
    sandbox.root = parent
    result = sandbox.run(before=late, propagates=True, NVML_DRIVER_ROOTS="/run-nvidia/driver", NVML_WAIT_SECONDS="10")
    assert result.entries() == chain()


def test_a10_failure_of_the_copy_is_not_lost_in_a_condition(sandbox: Sandbox) -> None:
    """While it waits, the shell looks for the library in a condition, where `set -e` does not hold."""
    sandbox.library("usr/lib64")
    result = sandbox.run(mount_options="ro", NVML_WAIT_SECONDS="5")
    assert result.code == 1
    assert "Copied" not in result.output


def test_a11_script_is_ascii() -> None:
    assert SCRIPT.isascii()


def test_a12_init_container_states_its_resources() -> None:
    resources = init_container()["resources"]
    assert set(resources) == {"requests", "limits"}
    assert all(set(amounts) == {"cpu", "memory"} for amounts in resources.values())


def test_a13_client_label_only_when_asked_for() -> None:
    assert "nodeSelector" not in pod()
    manifests, report = post_render(KEPLER.encode(), "test.yaml", SELECTOR, Options(client_label=True))
    assert pod_spec(manifests)["nodeSelector"] == {"nvidia.com/gpu.deploy.client": "true"}
    assert any("v26.7.0" in problem.message for problem in report)


def test_kubernetes_leaves_the_script_as_it_is() -> None:
    """It replaces $(NAME) in arguments where the container has a variable NAME, and makes `$$` one `$`."""
    names = variables(init_container(wait_seconds=1, lib_dirs=("lib64",)))
    assert "$$" not in SCRIPT
    assert not [name for name in re.findall(r"\$\(([^)]*)\)", SCRIPT) if name in names]


def test_every_combination_of_options_is_stable() -> None:
    """A second pass with the same options changes no byte, whatever they are."""
    for root, wait, copies, liveness in product(("container", "auto", "sysext"), (0, 60), (True, False), Liveness):
        options = Options(driver_root=root, wait_seconds=wait, copies=copies, liveness=liveness)
        once, _ = post_render(KEPLER.encode(), "test.yaml", SELECTOR, options)
        assert post_render(once, "test.yaml", SELECTOR, options)[0] == once


def test_digest_cannot_be_a_value_of_the_chart() -> None:
    with pytest.raises(Failure, match="no digest"):
        kepler_values(Options(image="busybox@sha256:" + "0" * 64), has_nvml=True)


def _as_json(manifests: str) -> str:
    return "---\n".join(json.dumps(tree, indent=2) + "\n" for tree in objects(manifests))


def _with_former_mount(manifests: str) -> str:
    """Kepler's manifest before: the driver container's whole root in the agent."""
    root = "{path: /run/nvidia/driver, type: DirectoryOrCreate}"
    text = with_entry(manifests, "env", "{name: LD_LIBRARY_PATH, value: '/run/nvidia/driver/usr/lib64:/opt/lib'}")
    text = with_entry(text, "volumeMounts", "{name: nvidia-driver, mountPath: /run/nvidia/driver, readOnly: true}")
    return with_entry(text, "volumes", f"{{name: nvidia-driver, hostPath: {root}}}")
