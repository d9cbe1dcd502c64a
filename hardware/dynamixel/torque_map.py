"""Current and torque of a servo.

``motor``: k I. ``supply`` (XL330, XC330; e-manual, registers 38 and 102): k √(I I_0) at
standstill, from the power U I = R I_m² and the supply's stall current I_0 = U / R.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

Kind = Literal["motor", "supply"]


class TorqueMap(NamedTuple):
    """Torque of one servo by its current.

    Attributes:
        constant: k, [N·m/A].
        stall_current: At the supply, I_0, [A].
        gain: Measured over modelled torque.
    """

    kind: Kind
    constant: float
    stall_current: float
    gain: float = 1.0

    def find_torque(self, current: float) -> float:
        """Return the torque, [N·m], of a current, [A]; odd."""
        motor = current
        if self.kind == "supply":
            motor = math.copysign(math.sqrt(abs(current) * self.stall_current), current)
        return self.gain * self.constant * motor

    def find_current(self, torque: float) -> float:
        """Return the current, [A], of a torque, [N·m]; odd."""
        motor = torque / (self.gain * self.constant)
        if self.kind == "supply":
            return math.copysign(motor * motor / self.stall_current, motor)
        return motor


class Dither:
    """Current counts with a torque as mean; errors carry over."""

    def __init__(self) -> None:
        self._owed = 0.0  # what was made too little, [N·m]

    def find_count(self, torque: float, unit: float, torques: TorqueMap) -> int:
        """Return a count next to the torque, [N·m], not beyond zero."""
        if not torque:
            return 0
        sign = math.copysign(1.0, torque)
        low = math.floor(abs(torques.find_current(torque)) / unit)
        less, more = (torques.find_torque(n * unit) for n in (low, low + 1))
        wanted = abs(torque) + sign * self._owed
        is_more = bool(wanted >= more)
        self._owed = sign * (wanted - (more if is_more else less))
        return int(sign) * (low + is_more)
