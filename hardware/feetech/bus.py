"""One bus of servos, for one thread: reads all at once, writes goals.

Angles are the servos' own: count 2048 is 0, after the homing offset of each.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from paprle.hardware.feetech.eeprom import Stored, write_stored
from paprle.hardware.feetech.errors import BusError, BusTimeout
from paprle.hardware.feetech.inspection import (
    MEASURED,
    find_elsewhere,
    find_foreigners,
)
from paprle.hardware.feetech.models import ServoSpec, find_number
from paprle.hardware.feetech.servo import SILENT, Servo
from paprle.hardware.feetech.wire import Wire

Vec = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

_LOG = logging.getLogger(__name__)
_LONE_TRIES = (1, 3)  # chosen: all once, then the silent ones again and again
_MUTE_CYCLES = 4  # chosen: about 0.5 s; a host may pause that long


@dataclass(frozen=True, slots=True)
class Reading:
    """All servos at one instant; arrays have shape (n,), with NaN for silent servos.

    Attributes:
        stamp_ns: Request time on the clock of the bus, [ns].
        angle: [rad], over whole turns since the servo was found.
        velocity: [rad/s].
        load: Share of the full duty of the motor, −1 … 1.
        current: [A], with the sign of the load.
        voltage: [V].
        temperature: [°C].
        errors: Bits of Status; 0 for silent servos.
        is_moving: Servos on their way to a goal.
    """

    stamp_ns: int
    angle: Vec
    velocity: Vec
    load: Vec
    current: Vec
    voltage: Vec
    temperature: Vec
    errors: npt.NDArray[np.int64]
    is_moving: Mask


@dataclass
class Counters:
    """Faults that the bus recovered from.

    Attributes:
        n_missed: Readings for which a servo was asked alone.
        n_lost: Silent servos.
    """

    n_cycles: int = 0
    n_missed: int = 0
    n_lost: int = 0
    n_reconnected: int = 0


class Bus:
    """A bus and its servos.

    Attributes:
        servos: The servos, in the order of every array.
    """

    def __init__(
        self, wire: Wire, specs: Sequence[ServoSpec], clock: Callable[[], int]
    ) -> None:
        """Begin closed.

        Raises:
            BusError: If a model is unknown.
        """
        for spec in specs:
            find_number(spec.model)
        self.wire, self._clock = wire, clock
        self.servos = [Servo(spec) for spec in specs]
        self.counters = Counters()
        self._next_check = 0
        self._next_reconnection = 0
        self._n_mute = 0

    @property
    def is_held(self) -> Mask:
        """Mask of the servos that follow goals, shape (n,)."""
        return np.array([servo.is_held for servo in self.servos], dtype=np.bool_)

    @property
    def is_on(self) -> Mask:
        """Mask of the servos with torque, as last seen, shape (n,)."""
        return np.array([servo.is_on for servo in self.servos], dtype=np.bool_)

    def open(self, *, needs_all: bool = True) -> None:
        """Open the port and check the servos; writes nothing to them.

        Args:
            needs_all: Require all servos; else at least one.

        Raises:
            BusError: With all problems.
        """
        self._n_mute = 0
        self.wire.open()
        problems = find_foreigners(self.wire) if needs_all else []
        for servo in self.servos:
            servo.is_alive = False
            problems += servo.configure(self.wire)
        has_none = not any(servo.is_alive for servo in self.servos)
        if has_none and needs_all:
            ids = [servo.spec.id for servo in self.servos]
            problems = find_elsewhere(self.wire, ids) or problems
        if problems and (needs_all or has_none):
            raise BusError(problems)

    def read(self) -> Reading | None:
        """Return the state of all servos; None if no servo answers.

        Raises:
            BusTimeout: If no servo has answered for some time.
            BusError: If the port is gone.
        """
        self.counters.n_cycles += 1
        stamp_ns = self._clock()
        alive = [servo for servo in self.servos if servo.is_alive]
        rows = self.wire.sync_read(MEASURED, [servo.spec.id for servo in alive])
        missing = [servo for servo in alive if servo.spec.id not in rows]
        if missing:
            self.counters.n_missed += 1
            self._ask_each(missing, rows)
        if rows:
            self._n_mute = 0
            return self._decode(stamp_ns, rows)
        self._n_mute += 1
        if self._n_mute >= _MUTE_CYCLES or not alive:
            raise BusTimeout(
                f"port '{self.wire.path}': no servo answered; check servo power and "
                "cable"
            )
        return None

    def _ask_each(self, missing: list[Servo], rows: dict[int, bytes]) -> None:
        """Ask each servo alone; drop those that are silent while others answer."""
        for tries in _LONE_TRIES:
            missing = [one for one in missing if not self._ask_alone(one, tries, rows)]
            if not rows:
                return
        for servo in missing:
            where = f"servo {servo.spec.id} on '{self.wire.path}'"
            _LOG.warning(
                "%s: it does not answer, other servos do; check its cable and power",
                where,
            )
            servo.is_alive = False
            servo.lose(
                f"{where}: expected answers, got none for a while; check its cable and "
                "power, and switch torque on again"
            )
            self.counters.n_lost += 1

    def _ask_alone(self, servo: Servo, tries: int, rows: dict[int, bytes]) -> bool:
        """Read one servo; what was silent for a moment may have restarted."""
        try:
            rows[servo.spec.id] = self.wire.read_block(servo.spec.id, MEASURED, tries)
        except BusTimeout:
            return False
        servo.check(self.wire)
        return True

    def _decode(self, stamp_ns: int, rows: dict[int, bytes]) -> Reading:
        states = [
            servo.decode(rows[servo.spec.id]) if servo.spec.id in rows else SILENT
            for servo in self.servos
        ]
        *columns, errors, moving = zip(*states, strict=True)
        values = np.array(columns, dtype=np.float64)
        values.setflags(write=False)
        angle, velocity, load, current, voltage, temperature = values
        return Reading(
            stamp_ns=stamp_ns,
            angle=angle,
            velocity=velocity,
            load=load,
            current=current,
            voltage=voltage,
            temperature=temperature,
            errors=np.array(errors, dtype=np.int64),
            is_moving=np.array(moving, dtype=np.bool_),
        )

    def write_goals(self, angles: Vec) -> None:
        """Send goals, shape (n,), [rad], to the servos that follow them.

        Raises:
            BusError: If the port is gone.
        """
        goals = {
            servo.spec.id: servo.find_goal(angle)
            for servo, angle in zip(self.servos, angles.tolist(), strict=True)
            if servo.is_held and servo.is_alive
        }
        if goals:
            self.wire.sync_write("Goal_Position", goals)

    def hold(self) -> None:
        """Switch torque on where the servos are, and verify it; nothing moves.

        Raises:
            BusError: With all problems; what was switched on is off again.
        """
        problems = [
            f"servo {servo.spec.id} on '{self.wire.path}': expected an answer, got "
            "none; check its cable and power"
            for servo in self.servos
            if not servo.is_alive
        ]
        if problems:
            raise BusError(problems)
        waiting = [servo for servo in self.servos if not servo.is_held]
        begun = [servo for servo in waiting if not servo.is_on]
        with self.wire.patiently():
            for servo in waiting:
                try:
                    servo.hold(self.wire)
                except BusError as err:
                    problems += err.problems
            if problems:
                told = [servo.switch_off(self.wire) for servo in begun]
                raise BusError([*problems, *(text for text in told if text)])

    def release(self) -> list[str]:
        """Switch all torque off and verify it; never raises.

        Returns:
            Unverified servos, a line each.
        """
        try:  # all at once; a silent one would let the next wait
            off = {servo.spec.id: 0 for servo in self.servos}
            self.wire.sync_write("Torque_Enable", off)
        except BusError as err:
            _LOG.debug("%s", err)  # each servo reports it below
        with self.wire.patiently():
            told = [servo.switch_off(self.wire) for servo in self.servos]
        return [text for text in told if text]

    def store(self, stored: Sequence[Stored]) -> None:
        """Write the calibration of each servo, limp, and verify it.

        Raises:
            BusError: If a servo holds torque, is silent or does not keep it.
        """
        for servo, one in zip(self.servos, stored, strict=True):
            with self.wire.patiently():
                write_stored(self.wire, servo.spec.id, one)
                servo.configure(self.wire)

    def check_next(self) -> None:
        """Look at the torque of the next servo.

        Raises:
            BusError: If the port is gone.
        """
        self._next_check = (self._next_check + 1) % len(self.servos)
        servo = self.servos[self._next_check]
        if servo.is_alive:
            servo.check(self.wire)

    def reconnect(self) -> bool:
        """Return whether a silent servo answers again; it is sent no goals yet.

        Raises:
            BusError: If the port is gone.
        """
        silent = [servo for servo in self.servos if not servo.is_alive]
        if not silent:
            return False
        self._next_reconnection += 1
        servo = silent[self._next_reconnection % len(silent)]
        is_there = self.wire.ping(servo.spec.id, tries=1) is not None
        if not is_there or servo.configure(self.wire):
            return False
        self.counters.n_reconnected += 1
        return True

    def describe_faults(self) -> dict[int, str]:
        """Return the faults of servos with remedies, by id."""
        silent = "expected an answer, got none; check its cable and power"
        found = {
            servo.spec.id: servo.fault if servo.is_alive else servo.loss or silent
            for servo in self.servos
        }
        return {i: text for i, text in found.items() if text}

    def take_warnings(self) -> list[str]:
        """Return the new warnings about servos that are usable."""
        found = [text for servo in self.servos for text in servo.warnings]
        for servo in self.servos:
            servo.warnings.clear()
        return found

    def close(self) -> None:
        """Close the port; torque stays as it is."""
        self.wire.close()
        for servo in self.servos:
            servo.is_alive = False
            servo.lose(
                f"servo {servo.spec.id} on '{self.wire.path}': its port was closed; "
                "switch torque on again"
            )
