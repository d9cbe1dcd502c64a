"""Position limits of a URDF's joints."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree


def read_limits(path: Path) -> Mapping[str, tuple[float, float]]:
    """Return limits by moving joint, [rad]; raise ValueError if it is no URDF."""
    try:
        root = ElementTree.parse(path).getroot()
        return {
            str(joint.get("name")): _read_limit(joint)
            for joint in root.iter("joint")
            if joint.get("type") in {"revolute", "continuous"}
        }
    except (OSError, ElementTree.ParseError, ValueError) as err:
        raise ValueError(f"{path}: expected a URDF, got '{err}'") from err


def _read_limit(joint: ElementTree.Element) -> tuple[float, float]:
    limit = joint.find("limit")
    if joint.get("type") == "continuous" or limit is None:
        return -float("inf"), float("inf")
    return float(limit.get("lower", 0.0)), float(limit.get("upper", 0.0))
