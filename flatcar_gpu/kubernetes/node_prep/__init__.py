"""Preparing nodes that already run, without a new Ignition config: a DaemonSet that installs what Ignition would.

prepare-node.sh   the script that does it on the node, and takes it back
source            what it installs: the files of a node's Butane tree, and the steps
manifests         Namespace, ConfigMap and DaemonSet that run it
"""
