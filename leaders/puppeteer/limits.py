"""Position limits of a URDF's joints, read without a model of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree


def read_limits(path: Path) -> Mapping[str, tuple[float, float]]:
    """Return lower and upper limit by joint, [rad]; infinite for continuous joints.

    Args:
        path: The URDF, a file of the user's own.

    Returns:
        Limits of all joints that move.

    Raises:
        ValueError: If it is no URDF, or not there.
    """
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
