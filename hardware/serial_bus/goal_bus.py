"""Bus of position servos, for one thread."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from paprle.hardware.serial_bus.errors import BusError, BusTimeout
from paprle.hardware.serial_bus.register import Register
from paprle.hardware.serial_bus.wire import RegisterWire

Vec = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

_LOG = logging.getLogger(__name__)
_LONE_TRIES = (1, 3)  # chosen: all once, then the silent ones again and again
_MUTE_CYCLES = 4  # chosen: about 0.5 s; a host may pause that long


@dataclass
class Counters:
    """Recovered faults.

    Attributes:
        n_missed: Readings that asked one alone.
    """

    n_cycles: int = 0
    n_missed: int = 0
    n_lost: int = 0
    n_reconnected: int = 0


class HasId(Protocol):
    """A servo's description."""

    @property
    def id(self) -> int:
        """Id on the bus."""


class GoalServo(Protocol):
    """Interface of one servo.

    Attributes:
        is_held: Torque is on by us; it follows goals.
        is_on: As last seen.
        loss: Reason against following goals, or "".
        warnings: Harmless oddities.
    """

    is_alive: bool
    is_held: bool
    is_on: bool
    loss: str
    warnings: list[str]

    @property
    def spec(self) -> HasId:
        """Description."""

    @property
    def span(self) -> Register:
        """Register of the measurements."""

    @property
    def fault(self) -> str:
        """Faults with remedies, or ""."""

    def configure(self, wire: Any) -> list[str]:
        """Return fatal problems."""

    def hold(self, wire: Any) -> None:
        """Switch torque on in place."""

    def lose(self, why: str) -> None:
        """Stop following goals for a reason."""

    def check(self, wire: Any) -> None:
        """Notice lost torque and a restart."""

    def switch_off(self, wire: Any) -> str:
        """Make it limp; return the problem, or ""."""


WireT = TypeVar("WireT", bound=RegisterWire)
ServoT = TypeVar("ServoT", bound=GoalServo)
ReadingT = TypeVar("ReadingT")


class GoalBus(ABC, Generic[WireT, ServoT, ReadingT]):
    """A bus and its servos.

    Attributes:
        servos: In the order of every array.
    """

    def __init__(
        self, wire: WireT, servos: Sequence[ServoT], clock: Callable[[], int]
    ) -> None:
        self.wire, self._clock = wire, clock
        self.servos = list(servos)
        self.counters = Counters()
        self._next_check = 0
        self._next_reconnection = 0
        self._n_mute = 0

    @property
    def n_echoes(self) -> int:
        """Requests returned by the adapter."""
        return 0

    @abstractmethod
    def _find_strangers(self) -> list[str]:
        """Return a line for each intruder."""

    @abstractmethod
    def _find_elsewhere(self, ids: Sequence[int]) -> list[str]:
        """Return a line on silent servos' rate."""

    @abstractmethod
    def _read_rows(self, alive: Sequence[ServoT]) -> dict[int, bytes]:
        """Return the measurements of answering servos, by id."""

    @abstractmethod
    def _decode(self, stamp_ns: int, rows: dict[int, bytes]) -> ReadingT:
        """Return measurements, NaN if silent."""

    @abstractmethod
    def _switch_all_off(self) -> None:
        """Switch all torque off, unanswered."""

    @abstractmethod
    def write_goals(self, angles: Vec) -> bool:
        """Send goals, shape (n,), [rad], to the servos that follow them.

        Returns:
            Whether they were sent; else queued ones are void, too.

        Raises:
            BusError: Lost port.
        """

    def take_rest(self) -> Vec | None:
        """Return new goals chosen by the servos, or None.

        Shape (n,), [rad].
        """
        return None

    @property
    def is_held(self) -> Mask:
        """Mask of servos that follow goals, shape (n,)."""
        return np.array([servo.is_held for servo in self.servos], dtype=np.bool_)

    @property
    def is_on(self) -> Mask:
        """Mask of servos with torque, as last seen, shape (n,)."""
        return np.array([servo.is_on for servo in self.servos], dtype=np.bool_)

    def open(self, *, needs_all: bool = True) -> None:
        """Open the port and check the servos; torque stays.

        Args:
            needs_all: Else one suffices.

        Raises:
            BusError: All problems.
        """
        self._n_mute = 0
        self.wire.open()
        problems = self._find_strangers() if needs_all else []
        for servo in self.servos:
            servo.is_alive = False
            problems += servo.configure(self.wire)
        has_none = not any(servo.is_alive for servo in self.servos)
        if has_none and needs_all:
            ids = [servo.spec.id for servo in self.servos]
            problems = self._find_elsewhere(ids) or problems
        if problems and (needs_all or has_none):
            raise BusError(problems)

    def read(self) -> ReadingT | None:
        """Return all servos' state; None if none answers.

        Raises:
            BusTimeout: A long silence of all.
            BusError: Lost port.
        """
        self.counters.n_cycles += 1
        stamp_ns = self._clock()
        alive = [servo for servo in self.servos if servo.is_alive]
        rows = self._read_rows(alive)
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

    def _ask_each(self, missing: list[ServoT], rows: dict[int, bytes]) -> None:
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

    def _ask_alone(self, servo: ServoT, tries: int, rows: dict[int, bytes]) -> bool:
        servo_id = servo.spec.id
        try:
            rows[servo_id] = self.wire.read_block(servo_id, servo.span, tries)
        except BusTimeout:
            return False
        servo.check(self.wire)
        return True

    def hold(self) -> None:
        """Switch torque on in place, verified.

        Raises:
            BusError: All problems; new torque is off again.
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
        """Switch all torque off, verified; never raises.

        Returns:
            A line for each unverified servo.
        """
        try:  # all at once; a silent one would let the next wait
            self._switch_all_off()
        except BusError as err:
            _LOG.debug("%s", err)  # each servo reports it below
        with self.wire.patiently():
            told = [servo.switch_off(self.wire) for servo in self.servos]
        return [text for text in told if text]

    def lose_all(self, why: str) -> None:
        """Stop all servos' goals for a reason; torque stays."""
        for servo in self.servos:
            servo.lose(
                f"servo {servo.spec.id} on '{self.wire.path}': {why}; look at the "
                "computer's load, and switch torque on again"
            )

    def check_next(self) -> None:
        """Check the next servo.

        Raises:
            BusError: Lost port.
        """
        self._next_check = (self._next_check + 1) % len(self.servos)
        servo = self.servos[self._next_check]
        if servo.is_alive:
            servo.check(self.wire)

    def reconnect(self) -> bool:
        """Return whether a silent servo answers again, without goals.

        Raises:
            BusError: Lost port.
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
        """Return faults with remedies, by id."""
        silent = "expected an answer, got none; check its cable and power"
        found = {
            servo.spec.id: servo.fault if servo.is_alive else servo.loss or silent
            for servo in self.servos
        }
        return {i: text for i, text in found.items() if text}

    def take_warnings(self) -> list[str]:
        """Return new warnings."""
        found = [text for servo in self.servos for text in servo.warnings]
        for servo in self.servos:
            servo.warnings.clear()
        return found

    def close(self) -> None:
        """Close the port; torque stays."""
        self.wire.close()
        for servo in self.servos:
            servo.is_alive = False
            servo.lose(
                f"servo {servo.spec.id} on '{self.wire.path}': its port was closed; "
                "switch torque on again"
            )
