"""Thread of a bus, which reopens a lost port.

It ends with torque verified off. Idle, it reads at 50 Hz.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from paprle.hardware.dynamixel.bus import Bus, Counters, Reading
from paprle.hardware.dynamixel.errors import BusError
from paprle.hardware.dynamixel.guardian import Guardian
from paprle.hardware.dynamixel.inspection import ServoSpec
from paprle.hardware.dynamixel.line.wire import TIMEOUT, Wire
from paprle.hardware.dynamixel.servo import Health
from paprle.hardware.dynamixel.torque import RELEASE, TorqueCommand, TorqueShaper
from paprle.hardware.serial_bus.port_thread import JOIN, PortThread, keep_deadline

_LOG = logging.getLogger(__name__)
_NOTHING: Mapping[int, str] = MappingProxyType({})
_PATIENCE = 0.5  # [s] chosen: a guardian's last try before the port is opened again
_RECONNECT = 0.5  # [s] chosen: each look for a silent servo may cost 10 ms
IDLE_RATE = 50.0
"""Readings a second while nobody drives, [Hz]. chosen: a press is seen within 20 ms,
and samples stay five times younger than session.max_gap allows."""
HOLD_RATE = 100.0
"""Repetitions of a torque that stands, every other one without a reading,
[Hz]. chosen: ten times within the silence after which a watchdog drops it, five within
the age at which it is stale.
"""

_START = 2.0  # [s] chosen: a small process, on a machine with much else to do
_WATCH = 0.005  # [s] chosen: a fortieth of the ramp


@dataclass(frozen=True, slots=True, kw_only=True)
class BusSettings:
    """Settings: baud [bit/s], rate [Hz], timeout of a reply [s]."""

    path: str
    servos: tuple[ServoSpec, ...]
    baud: int = 4_000_000
    rate: float = 400.0
    timeout: float = TIMEOUT


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Newest state of the bus.

    Attributes:
        reading: NaN for silent servos.
        fault: Of the port, or empty.
        errors: Of servos, by id.
        limp: Commanded servos without torque.
    """

    reading: Reading
    seq: int
    is_open: bool = True
    fault: str = ""
    errors: Mapping[int, str] = field(default_factory=dict)
    limp: frozenset[int] = frozenset()


class BusThread(PortThread):
    """A bus with its thread.

    Attributes:
        problems: Servos last left unverified.
    """

    def __init__(self, settings: BusSettings, clock: Callable[[], int]) -> None:
        super().__init__(f"dynamixel {settings.path}")
        self.settings, self._clock = settings, clock
        wire = Wire(settings.path, settings.baud, settings.timeout)
        self._bus = Bus(wire, settings.servos, clock)
        self._shaper = TorqueShaper(len(settings.servos))
        self._command: TorqueCommand | None = None
        self._snapshot: Snapshot | None = None
        self._note_health({})
        self._is_wanted = threading.Event()  # at the full rate
        self._is_wanted.set()
        self._told = -math.inf  # when servos that do not confirm were told to be limp
        self._guardian: Guardian | None = None
        self.problems: Sequence[str] = ()
        self.notes: Sequence[str] = ()

    def open(self) -> None:
        """Open the bus here, then start its thread.

        Raises:
            BusError: All problems; the port is closed again.
        """
        try:
            self._bus.open()
            self._try_watchdogs()
        except BaseException:
            self._end_guardian(self._bus.close())
            raise
        self._is_wanted.set()
        self._command = self._snapshot = None
        self._start()

    def _try_watchdogs(self) -> None:
        if self._bus.has_suspects:
            self._start_guardian(_START)
        self._bus.try_watchdogs(self._beat)
        self._beat(is_armed=False)
        runaways = self._bus.runaways
        if not runaways:
            self._end_guardian(())
            self.notes = ()
            return
        if self._guardian is None:
            self._start_guardian()
        ids = ", ".join(str(servo.spec.id) for servo in runaways)
        what = (
            "another process switches them off when this one dies or stalls. Nothing "
            "does when the plug is pulled or the computer loses its power: then cut "
            "the power of the servos"
        )
        if self._guardian is None:
            what = "the process that would guard them does not start: they stay limp"
        self.notes = (
            f"port '{self.settings.path}': the Bus Watchdog of servos {ids} does not "
            "stop their motors (tried just now; firmware 51 of the 330 size is known "
            f"for it); {what}",
        )

    def _start_guardian(self, wait: float = 0.0) -> None:
        able = [servo for servo in self._bus.servos if servo.cap > 0.0]
        try:
            self._guardian = Guardian(self._bus.wire, able)
        except OSError:
            _LOG.exception("port '%s': no guardian", self.settings.path)
            return
        end = time.monotonic() + wait
        while not self._guardian.is_ready and time.monotonic() < end:
            time.sleep(_WATCH)

    def _beat(self, *, is_armed: bool = True) -> None:
        if self._guardian is not None:
            self._guardian.beat(is_armed=is_armed)

    def _end_guardian(self, problems: Sequence[str], **how: float) -> Sequence[str]:
        guardian, self._guardian = self._guardian, None
        self._bus.is_guarded = False
        if guardian is not None:
            guardian.end(is_off=not problems, **how)
        return problems

    def latest(self) -> Snapshot | None:
        """Return the newest snapshot; any thread, never blocks."""
        return self._snapshot

    def post(self, command: TorqueCommand) -> None:
        """Post torques; any thread, never blocks, newest win."""
        self._command = command

    def set_idle(self, *, is_idle: bool) -> None:
        """Slow the readings, or resume; never blocks."""
        if is_idle:
            self._is_wanted.clear()
        else:
            self._is_wanted.set()

    def health(self) -> Mapping[int, Health]:
        """Return health by id, up to a second old; any thread."""
        return self._health

    @property
    def caps(self) -> npt.NDArray[np.float64]:
        """Largest torques, shape (n,), [N·m]."""
        return self._bus.caps

    @property
    def counters(self) -> Counters:
        """Recovered faults."""
        return self._bus.counters

    @property
    def n_failed(self) -> Mapping[str, int]:
        """Failed requests by result."""
        return dict(self._bus.wire.n_failed)

    @property
    def n_damaged(self) -> int:
        """Wrong checksums."""
        return self._bus.wire.packets.n_damaged

    def release(self) -> None:
        """Ramp torque down and off; any thread, never blocks."""
        self.post(TorqueCommand(np.zeros(0), self._clock(), is_release=True))

    def close(self) -> None:
        """Ramp torque down and off, verified, and end the thread."""
        thread, self._thread = self._thread, None
        if thread is None:
            return
        if not self._shaper.is_limp:
            self.release()
            self._wait_limp(thread)
        self._stop.set()
        thread.join(JOIN)
        if thread.is_alive():
            where = f"port '{self.settings.path}'"
            self.problems = (
                *self.problems,
                f"{where}: its thread did not end within {JOIN:g} [s], so torque off "
                "is not verified; cut the power of the servos",
            )

    def _wait_limp(self, thread: threading.Thread) -> None:
        end = time.monotonic() + 2.0 * RELEASE
        while thread.is_alive() and not self._shaper.is_limp and time.monotonic() < end:
            time.sleep(_WATCH)

    def _finish(self) -> None:
        self._note_problems(self._end_guardian(self._bus.close()))
        self._mark_closed(f"port '{self.settings.path}': its thread has ended")

    def _serve(self) -> None:
        begin = deadline = checked = reconnected = time.monotonic()
        check_every = 1.0 / len(self.settings.servos)  # each servo once a second
        full_period = 1.0 / self.settings.rate
        reads = has_answers = True
        while not self._stop.is_set():
            now = time.monotonic()
            if reads:
                has_answers = self._read()
            self._tell(now - begin)
            begin = now
            if now - checked >= check_every:
                checked = now
                self._check()
            if now - reconnected >= _RECONNECT:
                reconnected = now
                self._bus.reconnect()
            period = self._find_period(has_answers=has_answers)
            deadline = self._wait(deadline + period, period)
            is_idle = period > full_period and not self._is_wanted.is_set()
            reads = not (reads and is_idle) or self._bus.is_limp
            if period > full_period:  # torque rises from the end of an idle pause
                begin = time.monotonic() - full_period

    def _wait(self, deadline: float, period: float) -> float:
        left = deadline - time.monotonic()
        if self._is_wanted.is_set():
            if left > 0.0:
                time.sleep(left)
                return deadline
        elif self._is_wanted.wait(left):
            return time.monotonic()
        return keep_deadline(deadline, period)

    def _find_period(self, *, has_answers: bool) -> float:
        rate, is_limp = self.settings.rate, self._bus.is_limp
        is_switched = self._shaper.is_limp != is_limp
        if has_answers and not is_switched and not self._is_wanted.is_set():
            rate = min(IDLE_RATE if is_limp else HOLD_RATE, rate)
        return 1.0 / rate

    def _read(self) -> bool:
        reading = self._bus.read()
        if reading is not None:
            self._publish(reading)
        return reading is not None

    def _tell(self, dt: float) -> None:
        tau = self._shaper.step(self._command, self._bus.caps, self._clock(), dt)
        self._keep_guarded()
        if not self._shaper.is_limp:
            self._bus.enable_next()
            self._bus.write_torque(tau)
        elif not self._bus.is_limp:
            self._make_limp()
        else:
            self.problems = ()

    def _keep_guarded(self) -> None:
        if self._guardian is None:
            return
        is_limp = self._shaper.is_limp and self._bus.is_limp
        self._guardian.beat(is_armed=not is_limp)
        self._bus.is_guarded = self._guardian.is_ready
        if not self._guardian.is_alive:
            raise BusError(
                f"port '{self.settings.path}': expected the process that guards its "
                "servos to run, got its end; torque goes off, and it is started again"
            )

    def _make_limp(self) -> None:
        now = time.monotonic()
        if now - self._told < _RECONNECT:
            self._bus.write_torque(np.zeros(len(self.settings.servos)))
            return
        self._note_problems(self._bus.disable())
        self._told = -math.inf if self._bus.is_limp else now

    def _note_problems(self, found: Sequence[str]) -> None:
        for problem in found:
            if problem not in self.problems:
                _LOG.error("%s", problem)
        self.problems = tuple(found)

    def _publish(self, reading: Reading) -> None:
        last = self._snapshot
        seq = 1 + (last.seq if last is not None else 0)
        errors, limp = self._wrong
        self._snapshot = Snapshot(reading, seq, errors=errors, limp=limp)

    def _check(self) -> None:
        health = self._bus.check_next()
        if health is None:
            return
        self._note_health({**self._health, health.servo_id: health})

    def _note_health(self, found: dict[int, Health]) -> None:
        self._health = found
        self._wrong = (
            {i: str(h) for i, h in found.items() if not h.is_well},
            frozenset(i for i, h in found.items() if h.is_torque_off),
        )

    def _lose(self, err: BusError) -> None:
        self._end_guardian(self._bus.close(), patience=_PATIENCE)
        self._command, self._shaper = None, TorqueShaper(len(self.settings.servos))
        self._note_health({})
        self._mark_closed(str(err), self._bus.dangers)

    def _mark_closed(self, fault: str, dangers: Mapping[int, str] = _NOTHING) -> None:
        last = self._snapshot
        if last is not None:
            seq = last.seq + 1
            self._snapshot = Snapshot(last.reading, seq, False, fault, dangers)

    def _give_up(self) -> None:
        self._bus.close()

    def _open_again(self) -> None:
        self._bus.open(needs_all=False)
        if self._bus.runaways:
            self._start_guardian()
        _LOG.warning("port '%s': it is back", self.settings.path)
