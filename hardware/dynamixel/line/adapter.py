"""Which USB adapter a serial port is, whatever it is called today."""

from __future__ import annotations

import os
from typing import NamedTuple

from serial.tools import list_ports


class Adapter(NamedTuple):
    """USB identity of an adapter.

    Attributes:
        vendor: USB vendor.
        product: USB product.
        serial: Serial number; empty where it has none.
    """

    vendor: int
    product: int
    serial: str

    def __str__(self) -> str:
        """Return it as ``lsusb`` does."""
        number = f" {self.serial}" if self.serial else ""
        return f"{self.vendor:04x}:{self.product:04x}{number}"


def find_adapter(path: str) -> Adapter | None:
    """Return the adapter behind a port; None if it is none on USB, or is gone."""
    real = os.path.realpath(path)
    for port in list_ports.comports():
        if os.path.realpath(port.device) == real and port.vid is not None:
            return Adapter(port.vid, port.pid or 0, port.serial_number or "")
    return None
