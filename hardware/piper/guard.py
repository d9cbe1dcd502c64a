"""Drop of targets from before a stall."""

from __future__ import annotations

import can

from paprle.hardware.goal_order import read_boottime
from paprle.hardware.piper.protocol import GRIPPER, JOINTS

_STALL_NS = 20_000_000  # [ns] spec: safety.md amendments, K2: less is no stall
_PERIODS = 3.0  # spec: likewise; a gate that is paced writes at the end of its period
_TARGETS = frozenset((*JOINTS, GRIPPER))


class StallGuard(can.BusABC):  # type: ignore[misc]  # python-can is not type-checked
    """Bus that drops such targets."""

    def __init__(self, bus: can.BusABC, rate: float) -> None:
        """Guard a bus; targets have a rate, [Hz]."""
        self._stall_ns = max(_STALL_NS, round(_PERIODS * 1e9 / rate))
        self.channel_info = bus.channel_info
        self.n_dropped = 0
        self._bus = bus
        self._renewed_ns = 0
        super().__init__(channel=None)

    def renew(self) -> None:
        """Permit the targets of a new period."""
        self._renewed_ns = read_boottime()

    def send(self, msg: can.Message, timeout: float | None = None) -> None:
        """Send a frame, unless it is a stale target."""
        began_ns = self._renewed_ns
        is_target = began_ns > 0 and msg.arbitration_id in _TARGETS
        if is_target and read_boottime() - began_ns > self._stall_ns:
            self.n_dropped += 1
            return
        self._bus.send(msg, timeout)

    def shutdown(self) -> None:
        """Leave the bus."""
        super().shutdown()
        self._bus.shutdown()
