"""Manifests that several tests take, and short ways to look into what comes out."""

from __future__ import annotations

import re
from typing import Any

import yaml

from flatcar_gpu.kubernetes.nvml.strategic_merge import MERGE_KEYS

KEPLER = """\
# Kepler as its chart renders it
apiVersion: v1
kind: ConfigMap
metadata: {name: kepler, namespace: kepler}
data:
  config.yaml: |
    experimental:
      gpu:
        enabled: true
---
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: kepler
  namespace: kepler
spec:
  selector:
    matchLabels: {app: kepler}
  template:
    metadata:
      labels: {app: kepler}
    spec:
      hostPID: true
      tolerations:
        - key: node-role.kubernetes.io/control-plane
          operator: Exists
          effect: NoSchedule
      containers:
        - name: kepler
          image: quay.io/sustainable_computing_io/kepler:v0.11.4
          securityContext: {privileged: true}
          ports:
            - {containerPort: 28282, name: http}
          env:
            - name: NODE_NAME # of the node
              valueFrom: {fieldRef: {fieldPath: spec.nodeName}}
          livenessProbe:
            httpGet:
              path: /metrics
              port: http
            initialDelaySeconds: 10
            periodSeconds: 60
          volumeMounts:
            - name: sysfs
              mountPath: /host/sys
      volumes:
        - name: sysfs
          hostPath: {path: /sys}
---
apiVersion: v1
kind: Service
metadata: {name: kepler, namespace: kepler}
spec: {ports: [{port: 28282}]}
"""


def objects(manifests: bytes | str) -> list[Any]:
    """The objects in a stream, read by plain YAML."""
    return [tree for tree in yaml.safe_load_all(manifests) if tree]


def pod_spec(manifests: bytes | str, kind: str = "DaemonSet") -> dict[str, Any]:
    """The pod spec of the only object of a kind."""
    (found,) = (tree for tree in objects(manifests) if tree["kind"] == kind)
    spec: dict[str, Any] = found["spec"]["template"]["spec"]
    return spec


def named(entries: list[dict[str, Any]], key: str = "name") -> dict[str, dict[str, Any]]:
    """A list of maps by their names."""
    return {entry[key]: entry for entry in entries}


def unordered(spec: dict[str, Any]) -> dict[str, Any]:
    """A pod spec with its lists of named entries as maps."""
    return {
        key: {name: unordered(entry) for name, entry in named(value, MERGE_KEYS[key]).items()}
        if key in MERGE_KEYS
        else value
        for key, value in spec.items()
    }


def with_entry(manifests: str, key: str, entry: str) -> str:
    """The manifests with `entry`, YAML of one line, as the first one of the list at `key`."""
    text, count = re.subn(rf"^( *){key}:\n( *)- ", rf"\1{key}:\n\2- {entry}\n\2- ", manifests, flags=re.MULTILINE)
    assert count == 1
    return text
