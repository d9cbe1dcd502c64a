"""Faults of arm, unit and cable."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

from paprle_emulators.franka.arm import Arm
from paprle_emulators.franka.hand import Hand
from paprle_emulators.franka.protocol import Error, Mode
from paprle_emulators.franka.unit import Unit

_FOREVER = 1e9  # [s] until ``none``
_OF_LINK = frozenset(("cable", "lost", "late", "silence"))


class Faults:
    """Faults of one arm; those of the link end after ``time`` [s].

    Attributes:
        late_cycles: Of commands.
    """

    def __init__(self, unit: Unit, hand: Hand | None, seed: int = 0) -> None:
        self.unit, self.arm, self.hand = unit, unit.arm, hand
        self.is_off, self.n_boots = False, 0
        self._random = random.Random(seed)
        arm = self.arm
        self._orders: Mapping[str, Callable[..., None]] = {
            "none": self._clear,
            "cable": self._cut,
            "lost": self._lose,
            "late": self._delay,
            "silence": self._silence,
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
            "power_off": lambda: self._switch(is_on=False),
            "power_on": lambda: self._switch(is_on=True),
            "block": self._block,
        }
        self._end_link_faults()

    @property
    def names(self) -> tuple[str, ...]:
        """Available faults."""
        return tuple(self._orders)

    def apply(self, now_ns: int, order: Mapping[str, Any]) -> None:
        """Apply ``{"fault": NAME, …}``.

        Raises:
            ValueError: If invalid.
        """
        arguments = dict(order)
        name = str(arguments.pop("fault", ""))
        if name not in self._orders:
            known = ", ".join(self._orders)
            raise ValueError(f"expected a fault, got {name!r}; faults: {known}")
        if name in _OF_LINK:
            time = float(arguments.pop("time", _FOREVER))
            self._end_ns = now_ns + round(time * 1e9)
        try:
            self._orders[name](**arguments)
        except (TypeError, IndexError) as err:
            raise ValueError(f"fault '{name}': {err}") from err

    def pass_time(self, now_ns: int) -> None:
        """End expired faults."""
        if now_ns >= self._end_ns:
            self._end_link_faults()

    def loses(self) -> bool:
        """Return whether a packet is lost."""
        return self._random.random() < self._share

    @property
    def is_hurting(self) -> bool:
        """Whether packets are lost or late."""
        return self.is_silent or self._share > 0 or self.late_cycles > 0

    def _end_link_faults(self) -> None:
        self._end_ns = 1 << 62
        self.is_cut = self.is_silent = False
        self._share, self.late_cycles = 0.0, 0

    def _clear(self) -> None:
        self._end_link_faults()
        self.arm.push_torque[:] = 0.0
        self.unit.needs_manual = False
        if self.hand is not None:
            self.hand.obstacle = None

    def _cut(self) -> None:
        self.is_cut = True

    def _silence(self) -> None:
        self.is_silent = True

    def _lose(self, share: float = 1.0) -> None:
        self._share = float(share)

    def _delay(self, cycles: int = 1) -> None:
        self.late_cycles = int(cycles)

    def _lean(self, joint: int = 1, torque: float = 10.0) -> None:
        self.arm.push_torque[joint - 1] = float(torque)

    def _need_manual(self) -> None:
        self.unit.needs_manual = True
        self.arm.fail(Error.JOINT_POSITION_LIMITS)

    def _switch(self, *, is_on: bool) -> None:
        self.is_off, self.n_boots = not is_on, self.n_boots + 1
        self.arm.cut_power()
        if is_on:
            self.arm.boot()
            if self.hand is not None:
                self.hand.forget()

    def _block(self, at: float = 0.04) -> None:
        if self.hand is None:
            raise ValueError("hand: expected one, got hand=false")
        self.hand.obstacle = float(at)


def _stop(arm: Arm) -> None:
    arm.end(Mode.USER_STOPPED)


def _guide(arm: Arm) -> None:
    arm.end(Mode.GUIDING)


def _unlock(arm: Arm, mode: Mode) -> None:
    if arm.mode is mode:
        arm.end(Mode.IDLE)
