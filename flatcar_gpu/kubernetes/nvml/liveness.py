"""Probes that outlast a slow scrape.

Kepler collects anew on nearly every call of /metrics, 1.93 seconds on a node of H100s, while a probe waits one second
by default: such a pod is killed several times an hour. Its landing page `/` answers without collecting, in every image
from 0.10 on. /probe/livez does too, but is a 404, and so a kill, in images that do not have it.
Source: sustainable-computing-io/kepler#2489 (H100 report), #2511.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flatcar_gpu.errors import Failure
from flatcar_gpu.kubernetes.nvml.agents import is_kepler
from flatcar_gpu.kubernetes.nvml.pattern import Liveness, Options, Tree

TIMEOUT = 5
"""Seconds. Above twice the slowest collection on record."""

PROBES = ("livenessProbe", "readinessProbe", "startupProbe")

_METRICS = "/metrics"
_PATHS = {
    Liveness.LANDING_PAGE: {"livenessProbe": "/"},
    Liveness.LIVEZ: {"livenessProbe": "/probe/livez", "readinessProbe": "/probe/readyz"},
}


@dataclass(frozen=True, slots=True)
class ProbeChange:
    """The probes of a strategic-merge patch of the container, and what to tell about them."""

    patch: Tree
    notes: tuple[str, ...] = ()


def probe_change(container: Tree, options: Options) -> ProbeChange:
    """What `options` asks for on the probes that `container` has.

    Raises Failure where basic authentication is asked for and the port to open is not known.
    """
    if options.liveness is Liveness.KEEP:
        return ProbeChange({})
    present = {name: probe for name in PROBES if isinstance(probe := container.get(name), dict)}
    if options.liveness is Liveness.OFF:
        return ProbeChange({"livenessProbe": None} if "livenessProbe" in container else {})
    if not present:
        return ProbeChange({}, ("the container has no probes: nothing to change about them",))
    way = _way(container, options)
    changes = {name: _changed(name, probe, way, options) for name, probe in present.items()}
    notes: tuple[str, ...] = ()
    if way is Liveness.TIMEOUT and any(changes.values()):
        notes = (f"its probes keep what they ask for and get a timeout of {TIMEOUT} seconds",)
    return ProbeChange({name: change for name, change in changes.items() if change}, notes)


def landing_page_probe(options: Options) -> Tree:
    """What to merge over a liveness probe of Kepler that is known to be an httpGet with a port, but not seen.

    Raises Failure with basic authentication, which needs the port.
    """
    return _changed("livenessProbe", {"httpGet": {"path": _METRICS}}, _way({"name": "kepler"}, options), options)


def _way(container: Tree, options: Options) -> Liveness:
    if options.liveness is Liveness.AUTO:
        return Liveness.LANDING_PAGE if is_kepler(container) else Liveness.TIMEOUT
    return options.liveness


def _changed(name: str, probe: Tree, way: Liveness, options: Options) -> Tree:
    change: Tree = {}
    if isinstance(http := probe.get("httpGet"), dict):
        change |= _changed_http(name, http, way, options)
    # Kubernetes waits one second where nothing is said.
    timeout = probe.get("timeoutSeconds", 1)
    if not isinstance(timeout, int) or timeout < TIMEOUT:
        change["timeoutSeconds"] = TIMEOUT
    return change


def _changed_http(name: str, http: Tree, way: Liveness, options: Options) -> Tree:
    if options.basic_auth:
        # No request can be made without the password; whether the port takes connections can still be asked.
        if http.get("port") is None:
            raise Failure(
                "a probe of a server with basic authentication needs its port, which is not known here",
                hint="give the manifest with --target, or use post-render",
            )
        return {"httpGet": None, "tcpSocket": {"port": http["port"]}}
    change: dict[str, Any] = {}
    path = _PATHS.get(way, {}).get(name)
    is_trap = http.get("path") == _METRICS
    if path is not None and http.get("path") != path and (is_trap or options.liveness is not Liveness.AUTO):
        change["path"] = path
    if options.scheme is not None and http.get("scheme", "HTTP") != options.scheme:
        change["scheme"] = str(options.scheme)
    return {"httpGet": change} if change else {}
