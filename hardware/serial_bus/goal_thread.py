"""Thread of a bus, which reopens a lost port."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from paprle.hardware.serial_bus.errors import BusError
from paprle.hardware.serial_bus.goal_bus import Counters, GoalBus, Mask
from paprle.hardware.serial_bus.goal_queue import GoalQueue, LateGoalsError
from paprle.hardware.serial_bus.port_thread import JOIN, PortThread, keep_deadline

Vec = npt.NDArray[np.float64]

_LOG = logging.getLogger(__name__)
_PATIENCE = 0.5  # chosen: of a period; a gate's jitter is a tenth of it
_APART = 0.5  # chosen: of a period between goals that were held up by a slow answer
_AT_ONCE = 6  # chosen: goals between two readings, as many as come within a stall
_CHECKS = 4.0  # [Hz] chosen: looks at each servo's torque; a fallen arm is seen at once
_RECONNECT = 0.5  # [s] chosen: each look for a silent servo may cost a timeout
_UNASKED_EVERY = 1.0  # [s] chosen: over which bytes of others are counted
_UNASKED = 5  # chosen: in that time; a controller that reads at 10 Hz makes more
_LATE_SHARE = 2  # chosen: a late answer comes unasked once, after one that failed


ReadingT = TypeVar("ReadingT")
BusT = TypeVar("BusT", bound=GoalBus[Any, Any, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class BusSettings:
    """Settings: baud [bit/s], rate [Hz], timeout of a reply [s]."""

    path: str
    baud: int = 1_000_000
    rate: float = 200.0
    timeout: float = 0.02  # chosen: an adapter takes 1 ms, a busy host some


@dataclass(frozen=True, slots=True)
class Snapshot(Generic[ReadingT]):
    """Newest state of the bus.

    Attributes:
        reading: NaN for silent servos.
        fault: Of the port, or empty.
        enabled: With torque, as last seen, shape (n,).
        held: Follow goals, shape (n,).
        health: Faults with remedies, by id.
        disturbance: Another controller's traffic, with remedy, or empty.
        reconnects: Of port and servos.
    """

    reading: ReadingT
    seq: int
    is_open: bool
    fault: str
    enabled: Mask
    held: Mask
    health: Mapping[int, str] = field(default_factory=dict)
    disturbance: str = ""
    reconnects: int = 0


class GoalThread(PortThread, Generic[BusT, ReadingT]):
    """A bus with its thread; servos hold their last goal.

    Attributes:
        problems: Servos left unverified.
    """

    def __init__(self, name: str, settings: BusSettings, bus: BusT) -> None:
        super().__init__(f"{name} {settings.path}")
        self.settings = settings
        self._bus = bus
        self._n = len(bus.servos)
        self._goals = GoalQueue(settings.rate)
        self._wake = threading.Event()
        self._snapshot: Snapshot[ReadingT] | None = None
        self._task: tuple[Callable[[], None], Future[None]] | None = None
        self._lock = threading.Lock()  # of warnings and tasks
        self._warnings: list[str] = []
        self._reconnects = 0
        self._counted = 0, 0  # unasked bytes and failures at the last count
        self._disturbance = ""
        self.problems: Sequence[str] = ()

    def open(self) -> None:
        """Open the bus here, then start its thread; torque stays.

        Raises:
            BusError: All problems; the port is closed again.
        """
        self._goals.clear()
        try:
            with self._bus.wire.patiently():
                self._bus.open()
            self._publish(self._read_first())
        except BaseException:
            self._bus.close()
            raise
        self._note_warnings(self._bus.take_warnings())
        self._start()

    def _read_first(self) -> ReadingT:
        while True:
            reading: ReadingT | None = self._bus.read()
            if reading is not None:
                return reading

    @property
    def snapshot(self) -> Snapshot[ReadingT] | None:
        """Newest snapshot or None; any thread, never blocks."""
        return self._snapshot

    @property
    def counters(self) -> Counters:
        """Recovered faults."""
        counters: Counters = self._bus.counters
        return counters

    @property
    def n_failed(self) -> Mapping[str, int]:
        """Failed requests by result."""
        return dict(self._bus.wire.n_failed)

    def take_warnings(self) -> list[str]:
        """Return warnings since the last call; any thread."""
        with self._lock:
            found, self._warnings = self._warnings, []
        return found

    def set_goal(self, angles: Vec) -> None:
        """Post goals, shape (n,), [rad]; any thread, never blocks.

        They are sent in order, to held servos. Those from before a stall are dropped;
        after too long a wait no servo follows goals. A far goal is reached at top
        speed.

        Raises:
            ValueError: Wrong shape, or not finite.
        """
        goal = np.array(angles, dtype=np.float64)
        if goal.shape != (self._n,) or not np.isfinite(goal).all():
            raise ValueError(
                f"port '{self.settings.path}': expected {self._n} finite goals, got "
                f"{goal.tolist()}; send one angle per servo"
            )
        self._goals.post(goal)
        self._wake.set()

    @property
    def held_goal(self) -> Vec | None:
        """Goals held or sent next, [rad], or None."""
        return self._goals.held

    def hold(self) -> None:
        """Switch torque on in place, verified.

        Raises:
            BusError: All problems; new torque is off again.
        """
        self._do(self._hold)

    def _hold(self) -> None:
        self._goals.clear()  # one of before would be a jump
        self._bus.hold()
        if self._snapshot is not None:  # its caller reads at once that they are held
            self._publish(self._snapshot.reading)

    def release(self) -> None:
        """Switch torque off, verified.

        Raises:
            BusError: The unverified servos.
        """
        self._do(self._release)

    def _release(self) -> None:
        self._goals.clear()
        self._note_problems(self._bus.release())
        if self.problems:
            raise BusError(self.problems)

    def close(self, *, off: bool) -> None:
        """End the thread; servos hold, or drop torque if ``off``.

        ``problems`` lists unverified servos.
        """
        thread, self._thread = self._thread, None
        if thread is None:
            return
        if off:
            try:
                self._do(self._release, thread)
            except BusError as err:
                cut = "torque off is not verified: cut the servos' power"
                self._note_problems([f"{text}; {cut}" for text in err.problems])
        self._stop.set()
        thread.join(JOIN)
        if thread.is_alive():
            self._note_problems(
                [
                    f"port '{self.settings.path}': its thread did not end within "
                    f"{JOIN:g} [s]; cut the servos' power if the arm must be limp"
                ]
            )

    def _do(
        self, what: Callable[[], None], thread: threading.Thread | None = None
    ) -> None:
        snapshot, thread = self._snapshot, thread or self._thread
        if thread is None or snapshot is None or not snapshot.is_open:
            fault = snapshot.fault if snapshot is not None else ""
            raise BusError(
                fault
                or f"port '{self.settings.path}': expected it to be open, got a "
                "closed one; open it first"
            )
        done: Future[None] = Future()
        with self._lock:
            self._task = what, done
        wait([done], JOIN)
        if not done.done():
            with self._lock:
                self._task = None  # nobody waits for it any more
            raise BusError(
                f"port '{self.settings.path}': expected its thread to answer within "
                f"{JOIN:g} [s], got none; check the computer's load"
            )
        done.result()

    def _serve(self) -> None:
        period = 1.0 / self.settings.rate
        check_every = 1.0 / (_CHECKS * self._n)
        deadline = checked = reconnected = counted = time.monotonic()
        self._counted = self._bus.wire.port.n_unasked, sum(self.n_failed.values())
        while not self._stop.is_set():
            reading = self._bus.read()
            rest = self._bus.take_rest()
            if rest is not None:
                self._goals.restart(rest)
            self._do_task()
            has_goal = reading is not None and self._write_goals()
            now = time.monotonic()
            if now - checked >= check_every:
                checked = now
                self._bus.check_next()
            if now - reconnected >= _RECONNECT:
                reconnected = now
                self._reconnect()
            if now - counted >= _UNASKED_EVERY:
                counted = now
                self._count_unasked()
            if reading is not None:
                self._publish(reading)
            # in step with whoever sends goals: each is sent once, and none is repeated
            deadline = self._wait(deadline + period, period * _PATIENCE * has_goal)

    def _write_goals(self) -> bool:
        for k in range(_AT_ONCE):
            try:
                goal = self._goals.take()
            except LateGoalsError as err:
                self._bus.lose_all(str(err))
                return True
            if goal is None:
                return k > 0
            if not self._bus.write_goals(goal):
                self._goals.clear()
                break
            if not len(self._goals) or self._stop.wait(_APART / self.settings.rate):
                break
        return True

    def _wait(self, deadline: float, patience: float) -> float:
        left = deadline + patience - time.monotonic()
        is_woken = self._wake.wait(max(left, 0.0))
        self._wake.clear()
        period = 1.0 / self.settings.rate
        return time.monotonic() if is_woken else keep_deadline(deadline, period)

    def _do_task(self) -> None:
        with self._lock:
            task, self._task = self._task, None
        if task is None:
            return
        what, done = task
        try:
            what()
        except BusError as err:
            done.set_exception(err)
        except BaseException as err:
            done.set_exception(err)
            raise
        else:
            done.set_result(None)

    def _reconnect(self) -> None:
        if self._bus.reconnect():
            self._reconnects += 1
            self._note_warnings(self._bus.take_warnings())

    def _count_unasked(self) -> None:
        now = self._bus.wire.port.n_unasked, sum(self.n_failed.values())
        n_unasked, n_failed = now[0] - self._counted[0], now[1] - self._counted[1]
        self._counted = now
        most = max(_UNASKED, _LATE_SHARE * n_failed)
        if n_unasked < most or self._bus.n_echoes:
            self._disturbance = ""
        elif not self._disturbance:
            self._disturbance = (
                f"port '{self.settings.path}': expected silence between requests, "
                f"got bytes before {n_unasked} of them in {_UNASKED_EVERY:g} [s]: "
                "another controller speaks on this bus, or two servos share an "
                "id; unplug the other one, or end its program"
            )
            self._note_warnings([self._disturbance])

    def _publish(self, reading: ReadingT) -> None:
        last = self._snapshot
        self._snapshot = Snapshot(
            reading,
            seq=1 + (last.seq if last is not None else 0),
            is_open=True,
            fault="",
            enabled=self._bus.is_on,
            held=self._bus.is_held,
            health=self._bus.describe_faults(),
            disturbance=self._disturbance,
            reconnects=self._reconnects,
        )

    def _note_warnings(self, found: Sequence[str]) -> None:
        with self._lock:
            self._warnings += [text for text in found if text not in self._warnings]

    def _note_problems(self, found: Sequence[str]) -> None:
        for problem in found:
            _LOG.error("%s", problem)
        self.problems = tuple(found)

    def _lose(self, err: BusError) -> None:
        self._end_work(str(err))

    def _give_up(self) -> None:
        self._bus.close()

    def _open_again(self) -> None:
        self._bus.open(needs_all=False)
        self._reconnects += 1
        self._note_warnings(
            [
                f"port '{self.settings.path}': it is back; its servos follow goals "
                "once torque is switched on again",
                *self._bus.take_warnings(),
            ]
        )

    def _finish(self) -> None:
        self._end_work(f"port '{self.settings.path}': its thread has ended")

    def _end_work(self, fault: str) -> None:
        self._bus.close()
        last = self._snapshot
        if last is not None:
            nothing = np.zeros(self._n, dtype=np.bool_)
            self._snapshot = Snapshot(
                last.reading,
                seq=last.seq + 1,
                is_open=False,
                fault=fault,
                enabled=last.enabled,
                held=nothing,
                health=self._bus.describe_faults(),
                reconnects=self._reconnects,
            )
        with self._lock:
            task, self._task = self._task, None
        if task is not None:
            task[1].set_exception(BusError(fault))
