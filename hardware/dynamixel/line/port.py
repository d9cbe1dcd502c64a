"""Port and USB latency of a Dynamixel bus."""

from __future__ import annotations

from pathlib import Path

from dynamixel_sdk import PortHandler

from paprle.hardware.serial_bus.port import QuietPort

_QUICK_LATENCY = (
    1  # [ms] spec: devices.md 1: 16 ms, Linux' own, leave 57 cycles a second
)
_SYSFS = Path("/sys/bus/usb-serial/devices")


class SerialPort(QuietPort, PortHandler):  # type: ignore[misc] # the SDK has no types
    """Port for one thread; replies may take ``timeout`` [s] beyond their bytes."""


def read_latency_timer(path: str) -> int | None:
    """Return a USB adapter's latency timer, [ms], or None."""
    name = Path(path).resolve().name
    try:
        return int((_SYSFS / name / "latency_timer").read_text("ascii"))
    except (OSError, ValueError):
        return None


def find_latency_problem(path: str, latency: int | None) -> str | None:
    """Return the remedy for a latency timer, [ms], or None."""
    if latency is None or latency <= _QUICK_LATENCY:
        return None
    name = Path(path).resolve().name
    return (
        f"port '{path}': expected a USB latency timer of 1 [ms], got {latency} [ms]; "
        f"now: echo 1 | sudo tee {_SYSFS}/{name}/latency_timer, and for good a line in "
        '/etc/udev/rules.d/99-dynamixel.rules: ACTION=="add", SUBSYSTEM=="usb-serial", '
        'DRIVER=="ftdi_sio", ATTR{latency_timer}="1"'
    )
