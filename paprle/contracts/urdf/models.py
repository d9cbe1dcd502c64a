"""Pinocchio models of URDFs, with zeros for missing limits."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pinocchio as pin

_LIMITED = ("revolute", "prismatic")


def make_pin_model(urdf: Path | str) -> pin.Model:
    """Return the model of a URDF file or text.

    Raises:
        OSError: If the file cannot be read.
        ValueError: If it is no URDF.
    """
    return pin.buildModelFromXML(complete_limits(urdf))


def complete_limits(urdf: Path | str) -> str:
    """Return a URDF's text with limits; errors as ``make_pin_model``."""
    source = urdf.read_bytes() if isinstance(urdf, Path) else urdf.encode()
    try:
        root = ET.fromstring(source)
    except ET.ParseError as err:
        raise ValueError(f"expected a URDF, got no XML: {err}") from None
    for joint in root.findall("joint"):
        limit = joint.find("limit")
        if limit is None and joint.get("type") in _LIMITED:
            limit = ET.SubElement(joint, "limit")
        if limit is not None:
            for key in ("effort", "velocity"):
                limit.set(key, limit.get(key, "0"))
    return ET.tostring(root, encoding="unicode")
