"""Faults of an arm."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

from paprle_emulators.damiao.hand import Hand
from paprle_emulators.damiao.motor import Motor
from paprle_emulators.damiao.plant import Plant
from paprle_emulators.damiao.protocol import Status
from paprle_emulators.piper.protocol import BUS_OFF, Frame

_FOREVER = 1e6  # [s]
_NOISE = 0x08  # spec: CAN_ERR_PROT of linux/can/error.h
_ERRORS: Mapping[str, Status] = {
    "over_voltage": Status.OVER_VOLTAGE,
    "under_voltage": Status.UNDER_VOLTAGE,
    "over_current": Status.OVER_CURRENT,
    "mos_hot": Status.MOS_HOT,
    "coil_hot": Status.COIL_HOT,
    "communication": Status.COMMUNICATION_LOST,
    "overload": Status.OVERLOAD,
}
_BUS_FAULTS = frozenset(
    {"silence", "cable", "lost", "late", "garbage", "rogue", "error_frames", "bus_off"}
)
_LATE_SHARE, _LATE_TIME = 0.002, 0.005  # chosen: a host that was busy, [s]
_LOST_SHARE = 2e-4  # chosen: an adapter's overrun


class Faults:
    """Faults of one arm; those of the bus end after ``time`` [s]."""

    def __init__(
        self,
        plant: Plant,
        motors: list[Motor],
        hand: Hand | None = None,
        *,
        is_ideal: bool,
    ) -> None:
        self._hand = hand
        self._plant, self._motors, self._is_ideal = plant, motors, is_ideal
        self._random = random.Random(1)  # chosen: the same faults in every run
        self._commands: Mapping[str, Callable[..., None]] = {
            "none": self._clear,
            "silence": self._silence,
            "cable": self._cut,
            "lost": self._lose,
            "late": self._delay,
            "garbage": self._spoil,
            "rogue": self._let_in,
            "error_frames": self._make_noise,
            "bus_off": self._go_off,
            "mute": self._mute,
            "stuck": self._stick,
            "warm": self._warm,
            "disable": self._disable,
            "power_off": self._cut_power,
            "power_on": self._restore_power,
            "push": self._push,
            "hold": self._hold,
            "zero": self._shift,
            "block": self._block,
            "motion": self._move,
            "let_go": self._let_go,
            "grasp": self._grasp,
            **dict.fromkeys(_ERRORS, self._fail),
        }
        self._end_bus_faults()

    def apply(self, now_ns: int, command: Mapping[str, Any]) -> None:
        """Apply ``{"fault": NAME, …}``.

        Raises:
            ValueError: If invalid.
        """
        arguments = dict(command)
        name = str(arguments.pop("fault", ""))
        if name not in self._commands:
            known = ", ".join(self._commands)
            raise ValueError(f"expected a fault, got {name!r}; faults: {known}")
        if name in _BUS_FAULTS:
            time = float(arguments.pop("time", _FOREVER))
            self._end_ns = now_ns + round(time * 1e9)
        if name in _ERRORS:
            arguments["status"] = _ERRORS[name]
        try:
            self._commands[name](**arguments)
        except (TypeError, IndexError) as err:
            raise ValueError(f"fault '{name}': {err}") from err

    def pass_in(self, now_ns: int) -> bool:
        """Return whether frames reach the motors."""
        if now_ns >= self._end_ns:
            self._end_bus_faults()
        return not self.is_cut

    def delay(self, frame: Frame) -> tuple[float, Frame] | None:
        """Return an answer and its delay [s], or None."""
        if self.is_cut or self._is_silent or self._random.random() < self._share:
            return None
        if self._is_garbled:
            frame = frame._replace(data=self._random.randbytes(8))
        if self._lateness:
            return self._lateness, frame
        if self._is_ideal or self._random.random() > _LATE_SHARE:
            return 0.0, frame
        return self._random.uniform(0.0, _LATE_TIME), frame

    def list_others(self) -> list[Frame]:
        """Return other nodes' frames of a period."""
        if self.is_cut:
            return []
        errors = [Frame(self._error_class, bytes(8), is_error=True)] * self._n_errors
        return errors + self._foreign

    def _end_bus_faults(self) -> None:
        self._end_ns = 1 << 62
        self.is_cut = self._is_silent = self._is_garbled = False
        self._share = 0.0 if self._is_ideal else _LOST_SHARE
        self._lateness = 0.0
        self._n_errors, self._error_class = 0, _NOISE
        self._foreign: list[Frame] = []

    def _clear(self) -> None:
        self._end_bus_faults()
        for motor in self._motors:
            motor.fault, motor.is_mute, motor.stuck = None, False, None
            motor.warmth = [min(warmth, 40.0) for warmth in motor.warmth]

    def _silence(self) -> None:
        self._is_silent = True

    def _cut(self) -> None:
        self.is_cut = True

    def _lose(self, share: float = 1.0) -> None:
        self._share = share

    def _delay(self, delay: float = 0.05) -> None:
        self._lateness = delay

    def _spoil(self) -> None:
        self._is_garbled = True

    def _let_in(self, joint: int = 1) -> None:
        self._foreign = [Frame(self._motors[joint - 1].number, bytes(8))]

    def _make_noise(self, n: int = 2) -> None:
        self._n_errors = n

    def _go_off(self) -> None:
        self._n_errors, self._error_class = 1, BUS_OFF
        self._share = 1.0

    def _mute(self, joint: int = 1) -> None:
        self._motors[joint - 1].is_mute = True

    def _stick(self) -> None:
        plant = self._plant
        for k, motor in enumerate(self._motors):
            motor.stick((plant.q[k], plant.dq[k], plant.tau[k]))

    def _warm(self, joint: int = 1, temperature: float = 80.0) -> None:
        self._motors[joint - 1].warmth = [temperature, temperature]

    def _disable(self, joint: int = 1) -> None:
        self._motors[joint - 1].fail(Status.DISABLED)

    def _fail(self, status: Status, joint: int = 1) -> None:
        motor = self._motors[joint - 1]
        motor.fault = None if status is Status.COMMUNICATION_LOST else status
        motor.fail(status)

    def _cut_power(self) -> None:
        for motor in self._motors:
            motor.cut_power()

    def _restore_power(self) -> None:
        for motor in self._motors:
            motor.restore_power()

    def _push(self, joint: int = 1, torque: float = 10.0, time: float = 0.05) -> None:
        self._plant.knock(joint - 1, torque, time)

    def _hold(self) -> None:
        self._plant.is_held = True

    def _shift(self, joint: int = 1, by: float = 0.5) -> None:
        self._motors[joint - 1].zero += by

    def _block(
        self, joint: int = 1, low: float = -_FOREVER, high: float = _FOREVER
    ) -> None:
        self._plant.block(joint - 1, low, high)

    def _move(self, program: str = "still") -> None:
        self._find_hand().play(program)

    def _let_go(self) -> None:
        self._find_hand().hold(False)

    def _grasp(self) -> None:
        self._find_hand().hold(True)

    def _find_hand(self) -> Hand:
        if self._hand is None:
            raise ValueError("expected an arm in a hand, got none; start with motion=")
        return self._hand
