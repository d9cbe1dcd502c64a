"""Model, serial number and firmware of a control box."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

# spec: XArmAPI.version: axes, type, serial numbers of arm and control box, firmware.
# The SDK reads 40 bytes: with a type of two digits, the 850's, and serial numbers of 14
# letters the last number is cut, and the SDK then finds neither firmware nor axes. No
# string of a real 850 was seen
_VERSION = re.compile(r"(\d+),(\d+),([^,]*),[^,]*,\D*?[vV]?(\d+)\.(\d+)\.?(\d*)")


@dataclass(frozen=True, slots=True)
class Identity:
    """Joints, type, serial number and firmware."""

    axis: int
    kind: int
    serial: str
    firmware: tuple[int, int, int]


def read_identity(api: Any) -> Identity:
    """Return the identity behind a connected ``XArmAPI``."""
    found = _VERSION.match(str(api.version or ""))
    if found is None:
        axis, kind, serial = api.axis, api.device_type, ""
        major, minor, patch = (int(x) for x in api.version_number)
    else:
        axis, kind, serial, *numbers = found.groups()
        major, minor, patch = (int(x or 0) for x in numbers)
    return Identity(int(axis), int(kind), str(api.sn or serial), (major, minor, patch))
