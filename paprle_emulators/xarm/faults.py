"""Faults of arm, box and cable."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from paprle_emulators.xarm.arm import COLLISION, ESTOP_INPUT, JOINT_LIMIT, Arm
from paprle_emulators.xarm.protocol import Mode, State

_SELF_COLLISION, _SPEED, _BOUNDARY = 22, 24, 35  # spec: control box error codes
_OVERHEAT, _HOT = 15, 95  # spec: servo code S15; [°C] chosen
_FOREVER = 1e9  # [s] until ``none``
_OF_LINK = frozenset(("silence", "lost", "late", "stuck", "garbage", "slow", "cable"))


class Faults:
    """Faults of one arm; those of the link end after ``time`` [s].

    Attributes:
        answer_delay_ns: [ns].
    """

    def __init__(self, arm: Arm, seed: int = 0) -> None:
        self.arm = arm
        self.is_off, self.n_boots = False, 0
        self._random = random.Random(seed)
        self._late: deque[tuple[int, int, bytes]] = deque()
        self._orders: Mapping[str, Callable[..., None]] = {
            "none": self._clear,
            "silence": self._silence,
            "lost": self._lose,
            "late": self._delay,
            "stuck": self._stick,
            "garbage": self._spoil,
            "slow": self._slow,
            "cable": self._cut,
            "power_off": lambda: self._switch(is_on=False),
            "power_on": lambda: self._switch(is_on=True),
            "estop": lambda: arm.press(is_down=True),
            "release": lambda: arm.press(is_down=False),
            "estop_input": lambda: arm.fail(ESTOP_INPUT),
            "collision": lambda: arm.fail(COLLISION),
            "self_collision": lambda: arm.fail(_SELF_COLLISION),
            "limit": lambda: arm.fail(JOINT_LIMIT),
            "speed": lambda: arm.fail(_SPEED),
            "boundary": lambda: arm.fail(_BOUNDARY),
            "error": lambda code: arm.fail(int(code)),
            "servo": lambda joint=1, code=23: arm.fail_servo(int(joint), int(code)),
            "over_temperature": self._heat,
            "warm": self._warm,
            "warning": self._warn,
            "disable": lambda joint=1: arm.enable(int(joint), is_on=False),
            "pause": lambda: arm.set_state(State.PAUSED),
            "teach": self._teach,
            "push": lambda joint=1, by=0.1: arm.push(int(joint) - 1, float(by)),
            "lean": self._lean,
            "gripper": self._hurt_gripper,
            "block": self._block,
            "refuse": lambda register: arm.refused.add(int(register)),
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

    def change(self, port: int, report: bytes, now_ns: int) -> list[bytes]:
        """Return a port's reports sent at [ns]."""
        if self._is_silent or self._random.random() < self._share:
            return []
        if self._is_stuck:
            report = self._stuck.setdefault(port, report)
        if self._is_garbled:
            report = report[:4] + self._random.randbytes(len(report) - 4)
        if not self._delay_ns and not self._late:
            return [report]
        self._late.append((now_ns + self._delay_ns, port, report))
        sent = [row for row in self._late if row[0] <= now_ns and row[1] == port]
        for row in sent:
            self._late.remove(row)
        return [row[2] for row in sent]

    def _end_link_faults(self) -> None:
        self._end_ns = 1 << 62
        self.is_cut = self._is_silent = self._is_stuck = self._is_garbled = False
        self._share, self._delay_ns, self.answer_delay_ns = 0.0, 0, 0
        self._stuck: dict[int, bytes] = {}

    def _clear(self) -> None:
        self._end_link_faults()
        self.arm.push_torque[:] = 0.0
        self.arm.refused.clear()
        self.arm.temperatures = [35] * len(self.arm.temperatures)
        if self.arm.gripper is not None:
            self.arm.gripper.obstacle = None

    def _silence(self) -> None:
        self._is_silent = True

    def _lose(self, share: float = 1.0) -> None:
        self._share = float(share)

    def _delay(self, delay: float = 0.05) -> None:
        self._delay_ns = round(delay * 1e9)

    def _stick(self) -> None:
        self._is_stuck = True

    def _spoil(self) -> None:
        self._is_garbled = True

    def _slow(self, delay: float = 0.05) -> None:
        self.answer_delay_ns = round(delay * 1e9)

    def _cut(self) -> None:
        self.is_cut = True

    def _switch(self, *, is_on: bool) -> None:
        self.is_off, self.n_boots = not is_on, self.n_boots + 1
        self.arm.boot()

    def _heat(self, joint: int = 1) -> None:
        self.arm.temperatures[joint - 1] = _HOT
        self.arm.fail_servo(joint, _OVERHEAT)

    def _warm(self, joint: int = 1, temperature: int = 70) -> None:
        self.arm.temperatures[joint - 1] = int(temperature)

    def _warn(self, code: int = 11) -> None:
        self.arm.warning = int(code)

    def _teach(self) -> None:
        self.arm.set_mode(Mode.MANUAL)
        self.arm.set_state(0)

    def _lean(self, joint: int = 1, torque: float = 10.0) -> None:
        self.arm.push_torque[joint - 1] = float(torque)

    def _hurt_gripper(self, code: int = 11) -> None:
        self._find_gripper().error = int(code)

    def _block(self, at: float = 400.0) -> None:
        self._find_gripper().obstacle = float(at)

    def _find_gripper(self) -> Any:
        if self.arm.gripper is None:
            raise ValueError("gripper: expected one, got gripper=none")
        return self.arm.gripper
