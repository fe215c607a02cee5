#!/bin/sh
# Runs in the machine that Ignition prepared: its state, that node-prep finds nothing to do or to take back, and what the
# doctor sees.
set -u
# shellcheck source=/dev/null
. /node-state.sh

state ignition
prepare_node apply apply /host /source
state untouched
prepare_node remove remove /host
state unremoved

sh /collect-node.sh / | sed 's/^/collected=/'
# As a merge of system extensions does with systemd 256 and older: /usr once more, over all that is mounted below it.
mount --bind /usr /usr
report hidden.mount "$(systemctl is-active usr-local.mount)"
sh /collect-node.sh / | sed 's/^/hidden.collected=/'
