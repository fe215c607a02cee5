"""Flatcar's own containerd config, as far as a node must keep it."""

from __future__ import annotations

CRI = "io.containerd.grpc.v1.cri"

# As in flatcar/scripts, app-containers/containerd; oom_score stands for what is outside the plugin's section.
FLATCARS_CONFIG = f"""\
version = 2
oom_score = -999

[plugins."{CRI}"]
  enable_selinux = true
  [plugins."{CRI}".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."{CRI}".containerd.runtimes.runc.options]
      SystemdCgroup = true
"""
