"""V4L2 devices, unopened."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_SYSTEM = Path("/sys/class/video4linux")
_BY_ID = Path("/dev/v4l/by-id")
_NODE = re.compile(r"video(\d+)")


@dataclass(frozen=True)
class Device:
    """A V4L2 device; ``path`` is persistent if possible."""

    name: str
    path: Path


def list_devices(system: Path = _SYSTEM, by_id: Path = _BY_ID) -> Iterator[Device]:
    """Yield devices with images, in order of number."""
    nodes = [node for node in system.glob("video*") if _NODE.fullmatch(node.name)]
    for node in sorted(nodes, key=lambda node: int(node.name[len("video") :])):
        if _read(node / "index") != "0":  # the others of a camera give no images
            continue
        path = Path("/dev") / node.name
        links = [link for link in by_id.glob("*") if link.resolve().name == node.name]
        yield Device(_read(node / "name") or node.name, min(links, default=path))


def _read(path: Path) -> str:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""
