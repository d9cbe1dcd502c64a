"""From a servo's current to its torque and back; pure.

``motor``: the servo regulates the current of its motor, and torque is k I.

``supply``: it regulates the current at its supply, as the e-manual says of the XL330
and the XC330 (notes at registers 38 and 102). At standstill the power R I_m² of the
motor's current I_m comes from the supply, U I = R I_m², and U / R is the current I_0
that the supply gives at stall: so I_m = √(I I_0), and torque is k √(I I_0). A torque of
1 % of the stall torque takes 0.01 % of the current, and one count of the register is
3 % of the stall torque.

The square root is that of a standing motor. One that moves with its torque makes less,
one that is moved against it makes more: what is left out damps. Neither was seen on a
bench here; ``paprle calibrate`` weighs the arm to find out.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

Kind = Literal["motor", "supply"]


class TorqueMap(NamedTuple):
    """The torque of one servo by its current.

    Attributes:
        kind: Which current it regulates and measures.
        constant: Torque by the motor's current, k, [N·m/A].
        stall_current: At the supply, of a standing motor at full voltage, I_0, [A].
        gain: Torque as measured over torque as the other numbers have it.
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
        """Return the current, [A], that makes a torque, [N·m]; odd."""
        motor = torque / (self.gain * self.constant)
        if self.kind == "supply":
            return math.copysign(motor * motor / self.stall_current, motor)
        return motor


class Dither:
    """Counts of current that make a torque on average.

    One count of a supply's current is more torque than a light contact. What a count
    is off is added to what is asked for next, so that the mean over a few milliseconds
    is right, and no torque is off by more than a count at any time. What was made too
    much is owed across zero, too: a torque that comes and goes would else be rounded
    up each time.
    """

    def __init__(self) -> None:
        self._owed = 0.0  # what was made too little, [N·m]

    def find_count(self, torque: float, unit: float, torques: TorqueMap) -> int:
        """Return the next count: one of both next to the torque, never beyond zero.

        Args:
            torque: What is wanted, [N·m].
            unit: Current of a count, [A].
            torques: Of the servo.
        """
        if not torque:
            return 0
        sign = math.copysign(1.0, torque)
        low = math.floor(abs(torques.find_current(torque)) / unit)
        less, more = (torques.find_torque(n * unit) for n in (low, low + 1))
        wanted = abs(torque) + sign * self._owed
        is_more = bool(wanted >= more)
        self._owed = sign * (wanted - (more if is_more else less))
        return int(sign) * (low + is_more)
