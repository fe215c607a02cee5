#!/bin/sh
# Runs in the machine, on its second boot: what lasted, and taking it back while a container uses the overlay and after.
set -u
# shellcheck source=/dev/null
. /node-state.sh

report rebooted.kept "$(cat /usr/local/nvidia-toolkit)"
state rebooted
prepare_node after-reboot apply /host /source

sleep 1000 3</usr/local/nvidia-toolkit &
user=$!
prepare_node in-use remove /host
kill "$user"
wait "$user" 2>/dev/null
rm /usr/local/nvidia-toolkit
prepare_node remove remove /host
state removed
prepare_node remove-again remove /host
report removed.record "$(ls -A /var/lib/flatcar-gpu 2>/dev/null || echo gone)"
