#!/bin/sh
# Runs in the machine, on its first boot: node-prep, and that again.
set -u
# shellcheck source=/dev/null
. /node-state.sh

state before
prepare_node apply apply /host /source
state applied

process=$(systemctl show -P MainPID containerd.service)
prepare_node again apply /host /source
state again
[ "$process" = "$(systemctl show -P MainPID containerd.service)" ] && report again.containerd-restarted no

echo toolkit >/usr/local/nvidia-toolkit
systemd-sysext refresh >&2
wait_for_usr_local
state refreshed
