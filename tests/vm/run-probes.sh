#!/bin/sh
# Runs in the machine: all probes, and the journal for whoever has to find out why one is unhappy.
for probe in ./*.probe; do
    sh "$probe" || echo "failed-probe=$probe"
done
echo end=yes
journalctl --boot --no-pager --output short-monotonic >/dev/ttyS2
# The machine is powered off without ado, but its disk has another boot before it.
sync
