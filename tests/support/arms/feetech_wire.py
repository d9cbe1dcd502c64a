"""The driver's wire to an emulated arm in virtual time."""

from __future__ import annotations

from feetech_rig import RATE, FeetechBench, VirtualFeetechPort

from paprle.hardware.feetech.wire import Wire


class VirtualFeetechWire(Wire):
    """A wire to a bench's arm in virtual time, of any path."""

    def __init__(self, bench: FeetechBench, baud: int = RATE) -> None:
        self.bench = bench
        super().__init__(bench.name, baud)

    def _make_port(self) -> VirtualFeetechPort:
        return VirtualFeetechPort(self.bench.rig, self.bench.name, self.baud)

    def open(self) -> None:
        """Open a port at the wire's rate."""
        self.port = self._make_port()

    def wait(self, duration: float) -> None:
        """Let virtual time pass."""
        self.bench.wait(duration)
