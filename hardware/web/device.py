"""Newest hands, from the server's thread to the leader's."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from paprle.hardware.web.axes import Vec, to_rep103
from paprle.hardware.web.end_sign import EndSign
from paprle.hardware.web.hand import HandClutch, HandReading
from paprle.hardware.web.messages import (
    ClockMessage,
    Counts,
    HandMessage,
    HelloMessage,
    Message,
    Mode,
    SampleMessage,
)
from paprle.hardware.web.sender_clock import SenderClock

_BURST = 0.1  # [s] chosen: messages may be held up this long and then come at once
_LATE_NS = 300_000_000  # chosen: three silences of A1; no hand drives what it sees then
_MAX_SEQUENCE_JUMP = 1_000_000  # spec: safety.md A3
_KEPT = 20_000  # chosen: five minutes at 60 Hz, for percentiles at the end
_LOW_BATTERY = 0.15  # chosen: as phones warn


@dataclass(frozen=True, slots=True, kw_only=True)
class HandState:
    """Output of a hand.

    Attributes:
        p: Shape (3,), [m], REP-103.
        quat_xyzw: Shape (4,).
        opening: 0 … 1, or None.
    """

    p: Vec
    quat_xyzw: Vec
    opening: float | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DeviceState:
    """Device at its newest message.

    Attributes:
        stamp_ns: Capture, [ns].
        n_presses: A new one implies a release.
        n_losses: Losses of tracking.
        asks_to_end: By bare hands, an episode.
    """

    seq: int
    stamp_ns: int
    hands: Mapping[str, HandState]
    is_tracked: bool
    is_held: bool
    has_deadman: bool
    n_presses: int
    n_losses: int
    actions: Counts = field(default_factory=Counts)
    asks_to_end: bool = False


class WebDevice:
    """Messages as states.

    Attributes:
        delays: Capture to arrival, [s].
    """

    def __init__(self, limbs: Sequence[str], clock: Callable[[], int]) -> None:
        self._limbs, self._now = tuple(limbs), clock
        self._hands = {name: HandClutch() for name in limbs}
        self.state: DeviceState | None = None
        self.n_messages = 0
        self.refused: Counter[str] = Counter()
        self.delays: deque[float] = deque(maxlen=_KEPT)
        self.battery: float | None = None
        self.clock = SenderClock()
        self.end_sign = EndSign()
        self._owner: object | None = None
        self._page = ""
        self._seq = -1
        self._t_ms, self._arrived_ns = 0.0, 0
        self._counts, self._total = Counts(), Counts()

    @property
    def n_jumps(self) -> int:
        """Impossible motions so far."""
        return sum(hand.n_jumps for hand in self._hands.values())

    @property
    def is_battery_low(self) -> bool:
        """Whether the device should be charged."""
        return self.battery is not None and self.battery < _LOW_BATTERY

    def begin(self, owner: object) -> bool:
        """Return whether a connection begins; False while another lasts."""
        if self._owner is not None:
            return False
        self._owner = owner
        self._seq, self._arrived_ns = -1, 0
        self.clock = SenderClock()
        for hand in self._hands.values():
            hand.lose()
        return True

    def end(self, owner: object) -> None:
        """End the connection; no hand is tracked."""
        if self._owner is not owner:
            return
        self._owner = None
        self.end_sign.forget()
        for hand in self._hands.values():
            hand.lose()
        if self.state is not None:
            self._publish(self._now())

    def accept(self, message: Message) -> None:
        """Take a message of the connection."""
        if isinstance(message, SampleMessage):
            self._take_sample(message)
        elif isinstance(message, ClockMessage):
            self.clock.answer(message.id, int(message.t * 1e6), self._now())
        elif isinstance(message, HelloMessage):
            self._take_hello(message)

    def _take_hello(self, message: HelloMessage) -> None:
        if message.page != self._page:  # a page that was loaded anew counts from 0
            self._page, self._counts = message.page, Counts()
            for hand in self._hands.values():
                hand.lose()

    def _take_sample(self, message: SampleMessage) -> None:
        if not 0 < message.seq - self._seq <= _MAX_SEQUENCE_JUMP:
            self.refused["sequence"] += 1
            return
        if message.limbs.keys() != self._hands.keys():
            self.refused["limbs"] += 1
            return
        self._seq = message.seq
        self._count(message.actions)
        self.battery = message.battery
        seen = {name: _read(hand) for name, hand in message.limbs.items()}
        self.take_hands(seen, message.t, message.scale, message.mode)

    def take_hands(
        self,
        seen: Mapping[str, HandReading],
        t_ms: float | None,
        scale: float = 1.0,
        mode: Mode = "all",
    ) -> None:
        """Take hands by name.

        Args:
            seen: By name.
            t_ms: Device's clock, [ms], or None.
            scale: Of translations.
            mode: Motion passed on.
        """
        now_ns = self._now()
        stamp_ns, is_late = self._find_stamp(t_ms, now_ns)
        dt = self._measure_step(now_ns * 1e-6 if t_ms is None else t_ms, now_ns)
        if is_late:
            # what waited somewhere on its way comes in time, and tells of another time
            seen = {n: hand._replace(is_tracked=False) for n, hand in seen.items()}
        for name, hand in seen.items():
            self._hands[name].update(hand, dt, scale, mode)
        self.end_sign.update(seen.values(), now_ns)
        self._publish(stamp_ns)
        self.n_messages += 1

    def _measure_step(self, t_ms: float, now_ns: int) -> float:
        arrival = max((now_ns - self._arrived_ns) * 1e-9, _BURST)
        dt = min(max((t_ms - self._t_ms) * 1e-3, 0.0), arrival)
        self._t_ms, self._arrived_ns = t_ms, now_ns
        return dt

    def _find_stamp(self, t_ms: float | None, now_ns: int) -> tuple[int, bool]:
        if t_ms is None:
            return now_ns, False
        capture_ns = self.clock.find_capture(int(t_ms * 1e6), now_ns)
        if capture_ns is None:
            return now_ns, False
        age_ns = now_ns - capture_ns
        self.delays.append(age_ns * 1e-9)
        is_late = age_ns > _LATE_NS
        if is_late:
            self.refused["late"] += 1
        return capture_ns, is_late

    def _count(self, counts: Counts) -> None:
        before, total = self._counts, self._total
        self._total = Counts(
            stop=total.stop + max(counts.stop - before.stop, 0),
            next_episode=total.next_episode
            + max(counts.next_episode - before.next_episode, 0),
            discard=total.discard + max(counts.discard - before.discard, 0),
        )
        self._counts = counts

    def _publish(self, stamp_ns: int) -> None:
        before = self.state
        hands = self._hands
        self.state = DeviceState(
            seq=1 if before is None else before.seq + 1,
            stamp_ns=stamp_ns if before is None else max(stamp_ns, before.stamp_ns),
            hands={
                name: HandState(
                    p=hand.p, quat_xyzw=hand.quat_xyzw, opening=hand.opening
                )
                for name, hand in hands.items()
            },
            is_tracked=all(hand.is_tracked for hand in hands.values()),
            is_held=all(hand.is_held for hand in hands.values()),
            has_deadman=all(hand.has_deadman for hand in hands.values()),
            n_presses=sum(hand.n_presses for hand in hands.values()),
            n_losses=sum(hand.n_losses for hand in hands.values()),
            actions=self._total,
            asks_to_end=self.end_sign.share >= 1.0,
        )


def _read(hand: HandMessage) -> HandReading:
    q = np.array(hand.q)
    p, q = to_rep103(np.array(hand.p), q / np.linalg.norm(q))
    return HandReading(
        p, q, hand.tracked, hand.held, hand.press, hand.opening, gap=hand.gap
    )
