"""Errors of a servo bus."""

from paprle.hardware.serial_bus.errors import BusError, BusTimeout, ServoError

__all__ = ["BusError", "BusTimeout", "ServoError"]
