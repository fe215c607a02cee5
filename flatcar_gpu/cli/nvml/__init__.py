"""flatcar-gpu nvml"""

from __future__ import annotations

from flatcar_gpu.cli.framework import CONTEXT_SETTINGS, CommandTable, Entry

COMMANDS = {
    "post-render": Entry("flatcar_gpu.cli.nvml.post_render", "Add NVML to a workload in manifests on stdin."),
    "patch": Entry("flatcar_gpu.cli.nvml.patch", "Strategic-merge patch or kustomization for a DaemonSet."),
    "kepler-values": Entry("flatcar_gpu.cli.nvml.kepler_values", "Values for Kepler's Helm chart."),
    "helm-plugin": Entry("flatcar_gpu.cli.nvml.helm_plugin", "Helm 4 plugin that runs post-render."),
    "script": Entry("flatcar_gpu.cli.nvml.script", "The script that copies the library."),
}


def nvml() -> None:
    """NVIDIA's management library for monitoring agents, without the driver's glibc.

    \b
    helm template kepler CHART | flatcar-gpu nvml post-render --name kepler
    flatcar-gpu nvml patch --target daemonset.yaml --name kepler
    flatcar-gpu nvml kepler-values -o gpu-values.yaml
    """


command = CommandTable(
    table=COMMANDS, name="nvml", help=nvml.__doc__, context_settings=CONTEXT_SETTINGS, no_args_is_help=True
)
