#!/bin/sh
# Runs in the machine that Ignition prepared: its state, and that node-prep finds nothing to do, or to take back.
set -u
# shellcheck source=/dev/null
. /node-state.sh

state ignition
prepare_node apply apply /host /source
state untouched
prepare_node remove remove /host
state unremoved
