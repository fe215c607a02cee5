"""The gpu-operator Helm chart: its keys, and the values and NVIDIADriver resources that match a node."""
