"""Stages of the operator's host, in sequence within a period (T16)."""

from __future__ import annotations

import math
import os
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from paprle.ipc.loop import DeadlineLoop
from paprle.ipc.mailbox import Mailbox

LOOK_RATE = 200.0
"""Rate of ``paprle lead``, [Hz]; chosen: waiting data arrive late at the robot."""
ORDER = "order"
"""The port of the order, which ``paprle lead`` writes."""
SPENT = "spent"
"""The ports of what the turns of each observer take."""
_MOST = 16  # chosen: observers; there is no host with as many
ORDER_DTYPE = np.dtype([("period_ns", "i8"), ("begins_ns", "i8", (_MOST,))])
SPENT_DTYPE = np.dtype([("p50_ns", "i8"), ("p99_ns", "i8")])
_KEPT = 400  # chosen: turns, of eight seconds
_WARM = 50  # chosen: turns, in which everything is slow for once
_PATIENCE_NS = 5_000_000  # [ns] chosen: a turn of the one before may be as late
_NAP = 0.0003  # [s] chosen: a tenth of what a picture takes to be drawn


class Order(NamedTuple):
    """The period and the release times of the stages.

    Attributes:
        period_ns: Aligned to its multiples on the clock, [ns].
        begins_ns: Release times in it, [ns].
    """

    period_ns: int
    begins_ns: tuple[int, ...]


def plan_order(stages: Sequence[tuple[int, int]], least_ns: int, step_ns: int) -> Order:
    """Return the order of stages: T ≥ Σ t_1…n (2.2 no. 4).

    ``stages`` are p50 and p99 of durations, [ns]; ``least_ns`` is the least period, a
    multiple of ``step_ns``.
    """
    begins = [sum(p50 for p50, _ in stages[:k]) for k in range(len(stages))]
    period = max(sum(p99 for _, p99 in stages), least_ns)
    return Order(step_ns * math.ceil(period / step_ns), tuple(begins))


def share_processors(allowed: set[int]) -> tuple[set[int], set[int]]:
    """Return processors of loop and drawing; a single one is shared."""
    if len(allowed) < 2:
        return allowed, allowed
    return {max(allowed)}, allowed - {max(allowed)}


def pin(*, is_loop: bool) -> str:
    """Pin this thread; return a note on failure."""
    try:
        loop, others = share_processors(os.sched_getaffinity(0))
        os.sched_setaffinity(0, loop if is_loop else others)
    except (AttributeError, OSError) as err:  # no Linux, or it may not
        return f"stages are not pinned to processors: {err}"
    return ""


class StageTimes:
    """Durations of a stage's last turns."""

    def __init__(self) -> None:
        self._last: deque[int] = deque(maxlen=_KEPT)
        self._n = 0

    def note(self, spent_ns: int) -> None:
        """Add one turn, [ns]."""
        self._n += 1
        if self._n > _WARM:
            self._last.append(spent_ns)

    @property
    def of_late(self) -> tuple[int, int]:
        """p50 and p99 of the last turns, [ns]; 0 at first."""
        if not self._last:
            return 0, 0
        p50, p99 = np.percentile(self._last, [50, 99])
        return int(p50), int(p99)


class Scheduler:
    """Writes a new order with each picture."""

    def __init__(
        self, box: Mailbox, spent: Sequence[Mailbox], least_ns: int, step_ns: int
    ) -> None:
        self._box, self._boxes = box, tuple(spent)[: _MOST - 1]
        self._least_ns, self._step_ns = least_ns, step_ns
        self._own = StageTimes()
        self.order = plan_order([(0, 0)] * (1 + len(self._boxes)), least_ns, step_ns)

    def end_turn(self, now_ns: int) -> None:
        """End the loop's own stages and plan."""
        self._own.note(now_ns % self.order.period_ns)
        records = [box.read() for box in self._boxes]
        others = [
            (0, 0) if one is None else (int(one["p50_ns"]), int(one["p99_ns"]))
            for one in records
        ]
        spent = [self._own.of_late, *others]
        self.order = plan_order(spent, self._least_ns, self._step_ns)
        record = np.zeros((), ORDER_DTYPE)
        record["period_ns"] = self.order.period_ns
        record["begins_ns"][: len(spent)] = self.order.begins_ns
        self._box.write(record)


class StagePorts(NamedTuple):
    """An observer's mailboxes."""

    order: Mailbox
    spent: Mailbox
    heard: Mailbox


class Stage:
    """An observer's turn in the order."""

    def __init__(
        self,
        ports: StagePorts,
        place: int,
        rate: float,
        clock: Callable[[], int] = time.monotonic_ns,
        sleep: Callable[[float], None] = time.sleep,  # noqa: TID251 - it is what waits
    ) -> None:
        """Prepare; place 0 is the loop's; ``rate`` is of wake-ups, [Hz]."""
        self._order, self._spent, self._heard = ports
        self._place, self._rate = place, rate
        self._clock, self._sleep = clock, sleep
        self._own, self._count = StageTimes(), 0
        self._turn_ns = self._began_ns = 0

    def wait(self) -> bool:
        """Sleep until a turn or a wake-up; return True for a turn."""
        due_ns, is_turn = self._find_next(self._clock())
        while (now := self._clock()) < due_ns:
            self._sleep((due_ns - now) * 1e-9)
        while is_turn and 0 < self._heard.count == self._count:
            if self._clock() - due_ns > _PATIENCE_NS:
                break
            self._sleep(_NAP)
        self._count, self._began_ns = self._heard.count, self._clock()
        return is_turn

    def end(self) -> None:
        """Report the duration of the turn."""
        self._own.note(self._clock() - self._began_ns)
        record = np.zeros((), SPENT_DTYPE)
        record["p50_ns"], record["p99_ns"] = self._own.of_late
        self._spent.write(record)

    def _find_next(self, now_ns: int) -> tuple[int, bool]:
        record = self._order.read()
        if record is None:  # nothing was heard of the robot yet
            return now_ns + round(1e9 / self._rate), True
        period_ns = int(record["period_ns"])
        begin_ns = int(record["begins_ns"][self._place])
        n = max(1, round(self._rate * period_ns * 1e-9))
        since_ns = (now_ns - begin_ns) % period_ns
        turn_ns = now_ns - since_ns
        if turn_ns - self._turn_ns > period_ns // 2:  # it is late for this one
            self._turn_ns = turn_ns
            return now_ns, True
        k = since_ns * n // period_ns + 1
        if k >= n:
            self._turn_ns = turn_ns + period_ns
        return turn_ns + period_ns * k // n, k >= n


class Free:
    """A pace of its own."""

    def __init__(self, rate: float) -> None:
        self._loop = DeadlineLoop(rate)

    def wait(self) -> bool:
        """Sleep until the next turn; return True."""
        self._loop.wait()
        return True

    def end(self) -> None:
        """Do nothing: no stage waits for it."""
