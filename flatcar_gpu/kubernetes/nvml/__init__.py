"""NVIDIA's management library (NVML) for monitoring agents, without the glibc of the driver it belongs to.

A driver root such as /run/nvidia/driver holds the driver's whole userspace. An agent that loads NVML from there gets
that userspace's libc.so.6, too, and dies at start. So an init container copies libnvidia-ml.so.1 alone into an
emptyDir, and the agent has only that folder in LD_LIBRARY_PATH.

    driver_root       where the library is on a node, for each way to bring the driver
    pattern           init container, volumes, mount and variables as data
    liveness          probes that outlast a slow scrape
    overlay           all of it as one strategic-merge patch, joined with what the pod has
    strategic_merge   applying such a patch
    manifests, yaml_edit, post_render    the same on a stream of manifests, text left as it is
    kustomize, kepler, helm_plugin       the other outputs
"""
