"""Bus of torque-controlled servos, for one thread.

Angles are the horns': count 2048 is 0, counterclockwise positive, over several turns.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from dynamixel_sdk import GroupSyncWrite

from paprle.hardware.dynamixel.counts import BetweenCounts
from paprle.hardware.dynamixel.errors import BusError, BusTimeout, ServoError
from paprle.hardware.dynamixel.inspection import ServoSpec
from paprle.hardware.dynamixel.line.group_read import GroupReads
from paprle.hardware.dynamixel.line.search import find_all_elsewhere
from paprle.hardware.dynamixel.line.wire import Wire
from paprle.hardware.dynamixel.models import find_model, is_small
from paprle.hardware.dynamixel.servo import WATCHDOG, Health, Servo
from paprle.hardware.dynamixel.twins import find_shadows, list_near
from paprle.hardware.dynamixel.watchdog import try_watchdogs
from paprle.hardware.serial_bus.register import Register

Vec = npt.NDArray[np.float64]

_LOG = logging.getLogger(__name__)
_LONE_TRIES = (1, 3)  # chosen: all once, then the silent ones again and again
_RETURN = 1 / 200  # chosen: torque that was let go of is back after 0.5 s at 400 Hz
_SILENT = (math.nan, math.nan, math.nan)
DANGER = "its watchdog does not stop it, so it may turn on: cut its power"
"""Warning for a servo that can no longer be switched off."""

_MUTE_CYCLES = 4  # chosen: about 0.4 s; a host may pause that long


@dataclass(frozen=True, slots=True)
class Reading:
    """All servos at one instant, shape (n,), NaN for silent ones.

    Attributes:
        stamp_ns: Request time, [ns].
        angle: [rad], within a count.
        velocity: [rad/s].
        torque: From the current, [N·m].
        epoch: Configurations; each may restart the count of turns.
    """

    stamp_ns: int
    angle: Vec
    velocity: Vec
    torque: Vec
    epoch: npt.NDArray[np.int64]


@dataclass
class Counters:
    """Faults that the bus recovered from.

    Attributes:
        n_retried: Repeated readings.
        n_missed: That asked each servo alone.
    """

    n_cycles: int = 0
    n_retried: int = 0
    n_missed: int = 0
    n_lost: int = 0
    n_reconnected: int = 0
    n_watchdog: int = 0


class Bus:
    """A bus and its servos.

    Attributes:
        servos: In the order of every array.
        is_guarded: A guardian can switch torque off.
    """

    def __init__(
        self, wire: Wire, specs: Sequence[ServoSpec], clock: Callable[[], int]
    ) -> None:
        self.wire, self._clock = wire, clock
        self.servos = [Servo(spec, find_model(spec.model)) for spec in specs]
        self.counters = Counters()
        units = [servo.model.angle_unit for servo in self.servos]
        self._between = BetweenCounts(np.array(units))
        self.is_guarded = False
        self._reads = GroupReads(wire)
        self._next_health = 0
        self._next_reconnection = 0
        self._n_mute = 0

    @property
    def caps(self) -> Vec:
        """Largest torques, shape (n,), [N·m]; 0: none."""
        return np.array([servo.cap for servo in self.servos])

    @property
    def is_fast(self) -> bool:
        """Whether a group answers in one packet."""
        return self._reads.is_fast

    @property
    def is_alive(self) -> npt.NDArray[np.bool_]:
        """Mask of answering servos, shape (n,)."""
        return np.array([servo.is_alive for servo in self.servos], dtype=np.bool_)

    def open(self, *, needs_all: bool = True) -> None:
        """Open the port, check the servos, and switch torque off.

        Args:
            needs_all: Else one suffices.

        Raises:
            BusError: All problems.
        """
        self._n_mute = 0
        self.wire.open()
        with self.wire.patiently():
            problems = [
                text for servo in self.servos for text in servo.configure(self.wire)
            ]
        if needs_all and self.is_alive.any():
            specs = [servo.spec for servo in self.servos]
            problems += find_shadows(self.wire, specs, list_near(specs))
        if problems and needs_all and not self.is_alive.any():
            ids = [servo.spec.id for servo in self.servos]
            problems = find_all_elsewhere(self.wire, ids) or problems
        if problems and (needs_all or not self.is_alive.any()):
            raise BusError(problems)
        self._make_groups()
        self._reads.choose()

    def try_watchdogs(self, beat: Callable[[], None] = lambda: None) -> None:
        """Find servos stopped by their watchdogs; ``beat`` every 0.1 s.

        Raises:
            BusError: Lost port.
        """
        try_watchdogs(self.wire, self.servos, beat)

    @property
    def has_suspects(self) -> bool:
        """Whether a watchdog may not stop its servo."""
        small = [s for s in self.servos if s.cap > 0.0 and is_small(s.spec.model)]
        return any(not (s.is_tried and s.stops_alone) for s in small)

    @property
    def runaways(self) -> tuple[Servo, ...]:
        """Torque servos not stopped by their watchdogs."""
        return tuple(s for s in self.servos if s.cap > 0.0 and not s.stops_alone)

    @property
    def dangers(self) -> Mapping[int, str]:
        """Remedies by id for runaways with torque."""
        return {s.spec.id: DANGER for s in self.runaways if s.is_enabled}

    def assume_present(self) -> None:
        """Treat the servos as present, without writing."""
        for servo in self.servos:
            servo.look_at(self.wire)
        self._make_groups()
        self._reads.choose()

    def read(self) -> Reading | None:
        """Return all servos' state; None if none answers.

        Raises:
            BusTimeout: A long silence of all.
        """
        self.counters.n_cycles += 1
        stamp_ns = self._clock()
        rows = self._reads.read()
        self.counters.n_retried = self._reads.n_retried
        self.counters.n_missed = self._reads.n_missed
        alive = [servo for servo in self.servos if servo.is_alive]
        missing = [servo for servo in alive if servo.spec.id not in rows]
        if missing:
            self._ask_each(missing, rows)
        if all(servo.spec.id in rows for servo in self.servos if servo.is_alive):
            self._n_mute = 0
            return self._decode(stamp_ns, rows)
        self._n_mute += 1
        if self._n_mute >= _MUTE_CYCLES:
            raise BusTimeout(
                f"port '{self.wire.path}': no servo answered; check servo power and "
                "cable"
            )
        return None

    def write_torque(self, torque: Vec) -> None:
        """Send torques, shape (n,), [N·m], to enabled servos; 0 to silent ones.

        Raises:
            BusError: Lost port.
        """
        groups: dict[Register, GroupSyncWrite] = {}
        for servo, tau in zip(self.servos, torque.tolist(), strict=True):
            if not servo.is_enabled:
                continue
            at = servo.goal
            if at not in groups:
                groups[at] = GroupSyncWrite(
                    self.wire.port, self.wire.packets, at.address, at.size
                )
            servo.share = min(servo.share + _RETURN, 1.0)
            count = servo.encode(tau * servo.share * servo.is_alive)
            data = count.to_bytes(at.size, "little", signed=True)
            groups[at].addParam(servo.spec.id, data)
        for group in groups.values():
            self.wire.run(group, "txPacket")

    def enable_next(self) -> None:
        """Enable one more servo's torque.

        Raises:
            BusError: Lost port.
        """
        waiting = next(
            (
                servo
                for servo in self.servos
                if servo.is_waiting and (servo.stops_alone or self.is_guarded)
            ),
            None,
        )
        if waiting is None:
            return
        try:
            waiting.enable(self.wire)
        except (BusTimeout, ServoError) as err:
            _LOG.warning("%s", err)

    @property
    def is_limp(self) -> bool:
        """Whether no servo may hold torque."""
        return not any(servo.is_enabled for servo in self.servos)

    def disable(self, *, asks_silent: bool = False) -> list[str]:
        """Switch all torque off, verified; never raises.

        Args:
            asks_silent: Await silent servos, too.

        Returns:
            A line for each unverified servo; the next call retries it.
        """
        return list(self._disable(asks_silent=asks_silent).values())

    def _disable(self, *, asks_silent: bool) -> dict[Servo, str]:
        try:
            self.write_torque(np.zeros(len(self.servos)))
        except BusError as err:
            _LOG.debug("%s", err)  # told of each servo below
        told = {
            servo: self._switch_off(servo, asks=servo.is_alive or asks_silent)
            for servo in self.servos
            if servo.is_enabled
        }
        return {servo: text for servo, text in told.items() if text}

    def _switch_off(self, servo: Servo, *, asks: bool) -> str:
        what = "torque off is not verified"
        try:
            if asks:
                servo.make_limp(self.wire)
                return ""
            servo.give_up(self.wire)
        except BusError as err:
            return f"{err}; {what}"
        return f"servo {servo.spec.id} on '{self.wire.path}': it is silent; {what}"

    def check_next(self) -> Health | None:
        """Return the next servo's health; None if silent.

        Raises:
            BusError: Lost port.
        """
        self._next_health = (self._next_health + 1) % len(self.servos)
        servo = self.servos[self._next_health]
        try:
            found = servo.check(self.wire) if servo.is_alive else None
        except (BusTimeout, ServoError) as err:
            _LOG.warning("%s", err)
            return None
        if found is None:
            return None
        health, has_tripped = found
        self.counters.n_watchdog += has_tripped
        return health

    def reconnect(self) -> bool:
        """Return whether a silent servo answers again, configured.

        Raises:
            BusError: Lost port.
        """
        silent = [servo for servo in self.servos if not servo.is_alive]
        if not silent:
            return False
        self._next_reconnection += 1
        servo = silent[self._next_reconnection % len(silent)]
        if servo.is_enabled:
            servo.give_up(self.wire)  # again: it may hear, and only not be heard
        is_there = self.wire.ping(servo.spec.id, tries=1) is not None
        if not is_there or servo.configure(self.wire):
            return False
        self.counters.n_reconnected += 1
        self._make_groups()
        return True

    def close(self) -> list[str]:
        """Switch torque off and close; return unverified servos."""
        problems = self._disable(asks_silent=True)
        self.wire.close()
        for servo in self.servos:
            servo.is_alive = False
        own = f"nobody speaks any more, so its own watchdog ends it in {WATCHDOG:g} [s]"
        return [
            f"{problem}; {own if servo.stops_alone else DANGER}"
            for servo, problem in problems.items()
        ]

    def _make_groups(self) -> None:
        alive = [servo for servo in self.servos if servo.is_alive]
        self._reads.assign({servo.spec.id: servo.span for servo in alive})

    def _ask_each(self, missing: list[Servo], rows: dict[int, bytes]) -> None:
        for tries in _LONE_TRIES:
            missing = [one for one in missing if not self._ask_alone(one, tries, rows)]
            if not rows:
                return
        for servo in missing:
            _LOG.warning(
                "servo %d on '%s': it does not answer, other servos do; check its "
                "cable and power",
                servo.spec.id,
                self.wire.path,
            )
            servo.give_up(self.wire)
            self.counters.n_lost += 1
        if missing:
            self._make_groups()

    def _ask_alone(self, servo: Servo, tries: int, rows: dict[int, bytes]) -> bool:
        servo_id = servo.spec.id
        try:
            rows[servo_id] = self.wire.read_block(servo_id, servo.span, tries)
        except BusTimeout:
            return False
        return True

    def _decode(self, stamp_ns: int, rows: dict[int, bytes]) -> Reading:
        decoded = [
            servo.decode(rows[servo.spec.id]) if servo.spec.id in rows else _SILENT
            for servo in self.servos
        ]
        values = np.array(decoded).T
        values[0] = self._between.step(values[0], values[1], stamp_ns)
        values.setflags(write=False)
        epoch = np.array([servo.epoch for servo in self.servos], dtype=np.int64)
        return Reading(stamp_ns, values[0], values[1], values[2], epoch)
