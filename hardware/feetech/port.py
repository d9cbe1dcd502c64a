"""Port of a Feetech bus."""

from __future__ import annotations

from scservo_sdk.port_handler import PortHandler

from paprle.hardware.serial_bus.port import QuietPort


class SerialPort(QuietPort, PortHandler):  # type: ignore[misc] # the SDK has no types
    """Port for one thread; replies may take ``timeout`` [s] beyond their bytes."""
