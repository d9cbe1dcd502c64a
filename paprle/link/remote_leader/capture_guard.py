"""Guard of a remote leader's captures, at the robot.

Each is passed once, or refused if its age is unknown or over a second.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import Any

from paprle.contracts.types import Actions, LeaderInfo, LeaderSample
from paprle.ipc.records import Record
from paprle.link.guards import Hearing
from paprle.link.packets import Packet
from paprle.link.remote_leader.captures import Capture, CaptureCodec

OLDEST_NS = 1_000_000_000  # [ns] spec: safety.md A1, ±1 s
_WAITING = 8  # chosen: taken within 40 ms; of more the motion has passed the oldest
_WINDOW = 64  # chosen: numbers behind the newest that may still come
_ALL = (1 << _WINDOW) - 1
_MOST_AHEAD = 1_000_000  # spec: safety.md A3
_CLEAR = Actions._fields.index("clear")


class CaptureGuard:
    """Queue of a leader's captures.

    Attributes:
        heard_ns: Last local arrival; 0: never.
        is_released: The operator lacks the robot's state: nothing is led.
    """

    def __init__(self, info: LeaderInfo) -> None:
        self._names, self._codec = info.limbs, CaptureCodec(info)
        self._waiting: deque[LeaderSample] = deque(maxlen=_WAITING)
        self._before = self._actions = Actions()
        self._seq = 0
        self.n_captured = self.n_lost = self.n_late = 0
        self.heard_ns = 0
        self._last: LeaderSample | None = None
        self._sent: dict[int, int] = {}
        self.forget()

    def permit(self, now_ns: int) -> None:
        """Do nothing: stops are cleared beside the robot alone."""

    def forget(self) -> None:
        """Restart the counts for another session."""
        self._before, self._actions = self._sum(), Actions()
        self.is_released = False
        self._newest: Capture | None = None
        self._seen = _ALL & ~1  # bit i: the newest less i has come, or never will
        self._waiting.clear()

    def accept(self, end: Hearing, packet: Packet, now_ns: int) -> Record | None:
        """Keep a datagram's new and young captures."""
        found = self._codec.unpack(packet.payload, packet.stamp_ns)
        before = self._newest
        if found is None or not self._note_newest(found[0][-1], found[1]):
            end.refused["malformed"] += 1
            return None
        if not self._is_young(end, packet, packet.stamp_ns, now_ns):
            return None
        self.heard_ns = now_ns
        for capture in found[0]:
            is_new = self._is_new(capture.number)
            if is_new and self._is_young(end, packet, capture.stamp_ns, now_ns):
                is_late = before is not None and capture.number < before.number
                self.n_late += is_late
                stamp_ns = min(end.clock.to_local(capture.stamp_ns), now_ns)
                self._keep(end, capture, stamp_ns)
        return None

    def pop(self) -> LeaderSample | None:
        """Return the next capture, if any."""
        if not self._waiting:
            return None
        self._last = self._waiting.popleft()
        return self._last

    def set_released(self, *, is_released: bool) -> None:
        """Let captures lead, else repeat the last as invalid."""
        self.is_released = is_released
        if is_released and self._last is not None:
            self._seq += 1
            self._waiting.clear()
            self._waiting.append(replace(self._last, seq=self._seq, valid=False))

    def find_sent(self, stamp_ns: int) -> int:
        """Return the sender's stamp of a capture, [ns]; 0: unknown."""
        return self._sent.get(stamp_ns, 0)

    def _is_young(self, end: Hearing, packet: Packet, at_ns: int, now_ns: int) -> bool:
        age_ns = end.clock.compute_age(packet, at_ns, now_ns)
        if age_ns is None:
            end.refused["of unknown age"] += 1
        elif age_ns > OLDEST_NS:
            end.refused["too old"] += 1
        return age_ns is not None and age_ns <= OLDEST_NS

    def _note_newest(self, capture: Capture, actions: Actions) -> bool:
        newest = self._newest
        if newest is None:
            self._newest, self._actions = capture, actions
            return True
        ahead = capture.number - newest.number
        if ahead <= 0:
            return True
        if ahead > _MOST_AHEAD:
            return False
        moved = self._seen << ahead
        self.n_captured += ahead
        self.n_lost += ahead - (moved >> _WINDOW).bit_count()
        self._seen = moved & _ALL
        self._newest, self._actions = capture, actions
        return True

    def _is_new(self, number: int) -> bool:
        behind = self._newest.number - number if self._newest else 0
        if not 0 <= behind < _WINDOW or self._seen >> behind & 1:
            return False
        self._seen |= 1 << behind
        return True

    def _keep(self, end: Hearing, capture: Capture, stamp_ns: int) -> None:
        newest = self._newest or capture
        if not capture.flags["valid"] and capture is not newest:
            return  # of a while in which the device did not track
        self._sent[stamp_ns] = capture.stamp_ns
        if len(self._sent) > _WINDOW:
            del self._sent[next(iter(self._sent))]
        self._seq += 1
        if len(self._waiting) == _WAITING:
            self._waiting.popleft()
            end.refused["more than a motion can use"] += 1
        sample = LeaderSample(
            stamp_ns=stamp_ns,
            seq=self._seq,
            limbs=dict(zip(self._names, capture.limbs, strict=True)),
            actions=self._sum(),
        )
        levels: dict[str, Any] = dict(newest.flags)  # a late one has none
        levels["valid"] &= not self.is_released
        self._waiting.append(replace(sample, **levels))

    def _sum(self) -> Actions:
        sums = [a + b for a, b in zip(self._before, self._actions, strict=True)]
        sums[_CLEAR] = 0  # spec: safety.md E1, a stop is cleared beside the robot
        return Actions(*sums)
