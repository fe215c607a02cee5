"""How much user data each platform takes, and what to do about a config that is larger."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from flatcar_gpu.report import Report

if TYPE_CHECKING:
    from collections.abc import Iterator

WARN_AT = 0.75


class Counted(StrEnum):
    """What a platform's limit counts."""

    PLAIN = "bytes of the config"
    BASE64 = "characters of the config in base64"


@dataclass(frozen=True, slots=True)
class Platform:
    """A platform and its limit (None: none is known). `is_inferred` marks how it counts, not the limit itself."""

    name: str
    limit: int | None
    counted: Counted
    carrier: str
    source: str
    is_inferred: bool = False

    def size_of(self, ignition: bytes) -> int:
        """The size of a config as this platform counts it."""
        return len(ignition) if self.counted is Counted.PLAIN else 4 * ((len(ignition) + 2) // 3)


_PLATFORMS = (
    Platform("aws", 16_384, Counted.PLAIN, "user data", "AWS EC2 documentation, instancedata-add-user-data"),
    Platform("azure", 65_535, Counted.PLAIN, "custom data", "Azure documentation, custom-data"),
    Platform("cloudstack", 32_768, Counted.BASE64, "user data", "cluster-api-provider-cloudstack#12", is_inferred=True),
    Platform("digitalocean", None, Counted.PLAIN, "user data", "no limit found"),
    Platform("equinix", None, Counted.PLAIN, "user data", "no limit found"),
    Platform("gcp", 262_144, Counted.PLAIN, "metadata value user-data", "GCP Compute v1 API, Metadata"),
    Platform("hetzner", 32_768, Counted.PLAIN, "user data", "slauger/hcloud-okd4#18"),
    Platform("nutanix", 32_768, Counted.PLAIN, "config drive", "cluster-api-provider-nutanix#406", is_inferred=True),
    Platform("openstack", 65_535, Counted.BASE64, "user data", "OpenStack Nova documentation, user-data"),
    Platform("pxe", None, Counted.PLAIN, "HTTP", "Flatcar documentation, booting-with-pxe: no limit given"),
    Platform("qemu", None, Counted.PLAIN, "fw_cfg", "Ignition internals: slow for large configs, no limit"),
    Platform("virtualbox", 1_024, Counted.PLAIN, "guest property", "coreos/ignition#2226 (7.2.8; 128 KB before)"),
    Platform("vsphere", 65_536, Counted.BASE64, "guestinfo value", "vmware-tanzu/vm-operator#148"),
)

PLATFORMS = {platform.name: platform for platform in _PLATFORMS}


def size_report(platform: Platform, ignition: bytes, config: dict[str, Any]) -> Report:
    """Whether the config fits: a warning from three quarters of the limit on, an error above it.

    `config` is the same config as a tree; the message names its largest parts.
    """
    report = Report()
    if platform.limit is None:
        return report
    size = platform.size_of(ignition)
    counted = f"{platform.counted}{', inferred' if platform.is_inferred else ''}"
    says = (
        f"the config takes {size:,} of the {platform.limit:,} that {platform.name} allows as {platform.carrier} "
        f"({counted}; {platform.source})"
    )
    largest = ", ".join(f"{what} {length:,}" for what, length in sorted(_parts(config), key=_by_size)[:3])
    way_out = f"--shrink, or serve large files over https (contents.source with verification); largest: {largest}"
    if size > platform.limit:
        report.error(says, hint=way_out)
    elif size >= WARN_AT * platform.limit:
        report.warning(says, hint=way_out)
    return report


def shrunk(ignition: bytes, version: str) -> bytes:
    """The config wrapped in one that replaces itself with it, compressed; the config as it came where that is no gain.

    Every Ignition 3.1 and later unpacks it. Source: Ignition specification, ignition.config.replace and compression.
    """
    import base64
    import gzip

    packed = base64.b64encode(gzip.compress(ignition.rstrip(b"\n"), 9, mtime=0)).decode()
    wrapped = (
        f'{{"ignition":{{"config":{{"replace":{{"compression":"gzip","source":"data:;base64,{packed}"}}}},'
        f'"version":"{version}"}}}}\n'
    ).encode()
    return wrapped if len(wrapped) < len(ignition) else ignition


def _by_size(part: tuple[str, int]) -> int:
    return -part[1]


def _parts(config: dict[str, Any]) -> Iterator[tuple[str, int]]:
    """What takes space: each file by its path and each unit by its name, with the length of its contents."""
    for file in config.get("storage", {}).get("files", []):
        yield file["path"], len(file.get("contents", {}).get("source") or "")
    for unit in config.get("systemd", {}).get("units", []):
        dropins = sum(len(dropin.get("contents") or "") for dropin in unit.get("dropins", []))
        yield unit["name"], len(unit.get("contents") or "") + dropins
