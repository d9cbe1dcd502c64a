"""Faults of arm, unit and cable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from paprle_emulators.franka.arm import Arm
from paprle_emulators.franka.hand import Hand
from paprle_emulators.franka.protocol import Error, Mode
from paprle_emulators.franka.unit import Unit
from paprle_emulators.vendor_arm.faults import Faults, Order
from paprle_emulators.vendor_arm.line import Line


@dataclass(kw_only=True)
class UnitLine(Line):
    """Line whose commands may be late.

    Attributes:
        late_cycles: Of commands.
    """

    late_cycles: int = 0

    @property
    def is_hurting(self) -> bool:
        """Whether packets are lost or late."""
        return self.is_silent or self.share > 0 or self.late_cycles > 0

    def mend(self) -> None:
        """End the faults of the cable."""
        super().mend()
        self.late_cycles = 0


class UnitFaults(Faults):
    """Faults of one arm and its unit; ``lost`` and ``late`` hurt commands."""

    def __init__(self, line: UnitLine, unit: Unit, hand: Hand | None) -> None:
        self._unit, self._arm, self._hand = unit, unit.arm, hand
        arm, self._unit_line = unit.arm, line
        orders: Mapping[str, Order] = {
            "user_stop": lambda: _stop(arm),
            "release": lambda: _unlock(arm, Mode.USER_STOPPED),
            "guide": lambda: _guide(arm),
            "end_guiding": lambda: _unlock(arm, Mode.GUIDING),
            "lean": self._lean,
            "collision": lambda: arm.fail(Error.JOINT_REFLEX),
            "cartesian_reflex": lambda: arm.fail(Error.CARTESIAN_REFLEX),
            "self_collision": lambda: arm.fail(Error.SELF_COLLISION),
            "power_limit": lambda: arm.fail(Error.POWER_LIMIT),
            "torque_range": lambda: arm.fail(Error.TAU_J_RANGE),
            "joint_limit": lambda: arm.fail(Error.JOINT_POSITION_LIMITS),
            "joint_speed": lambda: arm.fail(Error.JOINT_VELOCITY),
            "manual": self._need_manual,
            "recover": arm.recover,
            "lock": arm.cut_power,
            "unlock": arm.open_brakes,
            "block": self._block,
        }
        super().__init__(line, orders, {"late": self._delay_commands})

    def clear(self) -> None:
        """End pushes and obstacles."""
        self._arm.push_torque[:] = 0.0
        self._unit.needs_manual = False
        if self._hand is not None:
            self._hand.obstacle = None

    def switch(self, *, is_on: bool) -> None:
        """Close the brakes, or boot."""
        self._arm.cut_power()
        if is_on:
            self._arm.boot()
            if self._hand is not None:
                self._hand.forget()

    def _delay_commands(self, cycles: int = 1) -> None:
        self._unit_line.late_cycles = int(cycles)

    def _lean(self, joint: int = 1, torque: float = 10.0) -> None:
        self._arm.push_torque[joint - 1] = float(torque)

    def _need_manual(self) -> None:
        self._unit.needs_manual = True
        self._arm.fail(Error.JOINT_POSITION_LIMITS)

    def _block(self, at: float = 0.04) -> None:
        if self._hand is None:
            raise ValueError("hand: expected one, got hand=false")
        self._hand.obstacle = float(at)


def _stop(arm: Arm) -> None:
    arm.end(Mode.USER_STOPPED)


def _guide(arm: Arm) -> None:
    arm.end(Mode.GUIDING)


def _unlock(arm: Arm, mode: Mode) -> None:
    if arm.mode is mode:
        arm.end(Mode.IDLE)
