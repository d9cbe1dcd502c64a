"""Quality of a link as text."""

from __future__ import annotations

import math
from collections import deque

from paprle.ipc.peer_clock import PeerClock
from paprle.link.remote_leader.engagement import RELEASE_AFTER

_LOOK_NS = 100_000_000  # [ns] chosen: ten looks a second are plenty for words
_N_LOOKS = 20  # chosen: two seconds
_DRIFT_NS = 120_000_000_000  # [ns] chosen: until then a millisecond hides 8 ppm
_WOBBLE = 0.03  # [s] chosen: what a motion made of captures bears without a bend
_SLOW, _USELESS = 0.15, 0.4  # [s] chosen: a hand waits for the robot; nobody can wait
_PPM = 1e6
_LOST = "LOST: no state from the robot for"
_NO_STATE = "no state from the robot that is younger than 1 s yet: nothing is led"
_UNANSWERED = "no answer; does the session run there, with this host as link.peer?"
_RELEASED = "released; wait, then engage again, or look at the network"
_UNSTEADY = "move slowly; a cable or 5 GHz is steadier"


class LinkQuality:
    """Figures of a link; offset and drift are for display only.

    Attributes:
        trip: Round trip, [s].
        wobble: The second longest trip less the quickest, [s].
        offset: Of the peer's clock, [s], ± half a trip.
        drift: Of that clock, [ppm]; 0: unknown.
    """

    def __init__(self) -> None:
        self.trip = self.wobble = self.offset = self.drift = 0.0
        self._waits: deque[int] = deque(maxlen=_N_LOOKS)
        self._look_ns = 0
        self._first: tuple[int, int] | None = None

    def look(self, clock: PeerClock, now_ns: int) -> None:
        """Update from the peer's clock."""
        if now_ns - self._look_ns < _LOOK_NS or not clock.trip_ns:
            return
        self._look_ns = now_ns
        self._waits.append(clock.waited_ns)
        waits = sorted(self._waits)
        self.wobble = waits[-2 if len(waits) > 1 else -1] * 1e-9
        self.trip = clock.trip_ns * 1e-9
        offset_ns = clock.to_local(0)
        self.offset = -offset_ns * 1e-9
        if self._first is None:
            self._first = now_ns, offset_ns
        since_ns = now_ns - self._first[0]
        if since_ns > _DRIFT_NS:
            self.drift = -_PPM * (offset_ns - self._first[1]) / since_ns

    def describe(self, silence: float) -> str:
        """Describe the link, given the state's age, [s]."""
        figures = f"{1e3 * self.trip:.0f} ms there and back ± {1e3 * self.wobble:.0f}"
        is_useless = self.trip + self.wobble > _USELESS
        judged = (
            (not self.trip, _UNANSWERED),
            (silence == math.inf, _NO_STATE),
            (silence > RELEASE_AFTER, f"{_LOST} {silence:.1f} s: {_RELEASED}"),
            (is_useless, f"BAD, {figures}: stop, and find a better network"),
            (self.wobble > _WOBBLE, f"UNSTEADY, {figures}: {_UNSTEADY}"),
            (self.trip > _SLOW, f"SLOW, {figures}: move slowly, wait for the robot"),
        )
        return next((words for is_so, words in judged if is_so), f"good, {figures}")

    def describe_clock(self) -> str:
        """Describe the peer's clock."""
        drift = f", drifts {self.drift:+.1f} ppm" if self.drift else ""
        return f"its clock is {self.offset:+.3f} s from ours{drift}"
