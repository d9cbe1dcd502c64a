"""Constant segment IDs."""

from __future__ import annotations

from collections.abc import Mapping
from xml.etree import ElementTree

WORLD: Mapping[str, int] = {"floor": 1, "table": 2, "block": 3, "target": 4}
"""Those of what stands around any robot; 0 is nothing."""

FIRST_LINK = 16  # chosen: a few more things may come to stand around it


def name_segments(urdf: str) -> dict[int, str]:
    """Return segment names by ID."""
    links = (
        link.get("name", "") for link in ElementTree.fromstring(urdf).findall("link")
    )
    around = {number: name for name, number in WORLD.items()}
    return around | dict(enumerate(links, FIRST_LINK))
