"""Further commands of Feetech rigs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from paprle_emulators.feetech.faults import RigFaults
from paprle_emulators.feetech.rig import Rig
from paprle_emulators.servo_rig.orders import Lines, Log, Orders


class FeetechOrders(Orders):
    """Executes and answers orders."""

    def __init__(
        self,
        rig: Rig,
        faults: RigFaults,
        answer: Callable[[str], None],
        log: Log | None = None,
    ) -> None:
        super().__init__(rig, faults, answer, log)
        self._servo_rig = rig
        self.commands |= {"block": self._block, "chain": self._chain}

    def _block(self, order: dict[str, Any], lines: Lines) -> None:
        del lines
        names = [limb.name for limb in self._limbs(order)]
        joint = str(order.pop("joint"))
        ends = [order.pop(key, None) for key in ("low", "high")]
        low, high = (None if end is None else float(end) for end in ends)
        for name in names:
            self._servo_rig.limbs[name].block(joint, low, high)

    def _chain(self, order: dict[str, Any], lines: Lines) -> None:
        del lines
        ports = self._faults.find_lines(order)
        joints = order.pop("joints", None)
        for port in ports:
            limb = self._servo_rig.limbs[port]
            chosen = limb.joints if joints is None else joints
            self._servo_rig.buses[port].connected = [
                limb.servos[limb.joints.index(joint)] for joint in chosen
            ]
