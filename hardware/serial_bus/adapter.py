"""USB adapter of a port."""

from __future__ import annotations

import os
from typing import NamedTuple

from serial.tools import list_ports


class Adapter(NamedTuple):
    """USB identity; the serial number may be empty."""

    vendor: int
    product: int
    serial: str

    def __str__(self) -> str:
        number = f" {self.serial}" if self.serial else ""
        return f"{self.vendor:04x}:{self.product:04x}{number}"


def find_adapter(path: str) -> Adapter | None:
    """Return a port's USB adapter, or None."""
    real = os.path.realpath(path)
    for port in list_ports.comports():
        if os.path.realpath(port.device) == real and port.vid is not None:
            return Adapter(port.vid, port.pid or 0, port.serial_number or "")
    return None
