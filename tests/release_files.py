"""Small release JSON files for tests, in the form www.flatcar.org publishes."""

from __future__ import annotations

import json
from typing import Any


def row(channel: str, date: str, kernel: str = "6.12.50", **changes: Any) -> dict[str, Any]:
    """One release; `changes` replace top-level keys, None removes one."""
    whole: dict[str, Any] = {
        "channel": channel,
        "architectures": ["amd64", "arm64"],
        "release_date": f"{date} 12:00:00 +0000",
        "major_software": {
            "containerd": ["2.0.7"],
            "docker": ["28.0.4"],
            "ignition": ["2.22.0"],
            "kernel": [kernel],
            "systemd": ["256"],
        },
        "release_notes": f"notes of {channel} {date}",
    }
    return {key: value for key, value in (whole | changes).items() if value is not None}


def release_json(rows: dict[str, Any], **pointers: str) -> bytes:
    """The file with those rows; `current="4459.2.1"` and `current_2024="4081.3.2"` add pointers, which repeat a row."""
    copies = {key.replace("_", "-"): rows[version] for key, version in pointers.items()}
    return json.dumps(rows | copies).encode()


STABLE = release_json(
    {
        "4459.2.0": row("stable", "2025-11-12", "6.12.54"),
        "4459.2.10": row("stable", "2026-03-01", "6.12.58"),
        "4459.2.9": row("stable", "2026-02-01", "6.12.54"),
    },
    current="4459.2.10",
)

LTS = release_json(
    {
        "3510.3.8": row("lts", "2025-08-19", "5.15.189"),
        "4081.3.2": row("lts", "2026-02-20", "6.6.83"),
        "4081.3.10": row("lts", "2026-03-02", "6.6.150"),
    },
    current_2023="3510.3.8",
    current_2024="4081.3.10",
    current="4081.3.10",
)
