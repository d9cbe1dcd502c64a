"""Estimate of a peer's monotonic clock from datagrams.

Ages include the whole quickest round trip, displayed times half of it. Times of
``to_local`` and ``to_arrival`` neither leap nor run backwards. After a clock jump ages
are unknown for a round trip.
"""

from __future__ import annotations

from typing import Protocol

_BUCKET_NS = 10_000_000_000  # [ns] chosen: at 200 ppm two of them drift by 4 ms
_JUMP_NS = 1_000_000_000  # [ns] spec: safety.md A1, ±1 s
_SLEW = 1e-3  # chosen: five times the drift of a poor crystal
_SETTLE_NS = 2_000_000_000  # [ns] chosen: a slow first datagram is forgotten in 10 s
_LEAST_NS, _MOST_NS = -(2**63), 2**63 - 1  # spec: what a record's stamp can hold


class Stamped(Protocol):
    """Stamps of a datagram, [ns]."""

    @property
    def stamp_ns(self) -> int:
        """Time of sending, sender's time."""

    @property
    def echo_ns(self) -> int:
        """Newest stamp the sender had from us; 0: none."""

    @property
    def held_ns(self) -> int:
        """Time since that stamp arrived there."""


class PeerClock:
    """Estimator of a peer's clock.

    Attributes:
        n_jumps: Clock jumps, or datagrams slower than a second.
        waited_ns: Delay of the newest round trip over the quickest.
        echo_ns: Newest of our stamps that the peer has had; 0: none.
    """

    def __init__(self) -> None:
        self.n_jumps = self.waited_ns = self.echo_ns = 0
        self._heard_ns: int | None = None
        self._newest: tuple[int, int] | None = None
        self._begin_ns = self._offset = 0
        self._offsets: list[int] = []
        self._trips: list[int] = []

    def take(self, packet: Stamped, now_ns: int) -> None:
        """Update with a datagram that arrived now."""
        difference = now_ns - packet.stamp_ns
        if self._offsets and abs(difference - min(self._offsets)) > _JUMP_NS:
            self.n_jumps += 1
            self._offsets, self._trips, self._newest = [], [], None
        if not self._offsets:
            self._begin_ns, self._offset = now_ns, difference
            self._offsets = [difference]
        if now_ns - self._begin_ns > _BUCKET_NS:
            self._begin_ns = now_ns
            self._offsets = [self._offsets[-1], difference]
            self._trips = self._trips[-1:]
        self._offsets[-1] = min(self._offsets[-1], difference)
        self._take_trip(packet, now_ns)
        heard_ns = now_ns if self._heard_ns is None else self._heard_ns
        wrong = min(self._offsets) - self._offset
        slew = max(_SLEW, abs(wrong) / _SETTLE_NS)
        most = int(slew * min(now_ns - heard_ns, _SETTLE_NS))
        self._offset += max(-most, min(most, wrong))
        self._heard_ns = now_ns
        if self._newest is None or packet.stamp_ns > self._newest[0]:
            self._newest = packet.stamp_ns, now_ns
        if packet.echo_ns <= now_ns:
            self.echo_ns = max(self.echo_ns, packet.echo_ns)

    def make_echo(self, now_ns: int) -> tuple[int, int]:
        """Return ``Stamped.echo_ns`` and ``held_ns`` for the peer."""
        if self._newest is None:
            return 0, 0
        return self._newest[0], now_ns - self._newest[1]

    def find_echo_age(self, now_ns: int) -> int:
        """Return the age of our newest echoed stamp, [ns]; 0: none."""
        return now_ns - self.echo_ns if self.echo_ns else 0

    @property
    def trip_ns(self) -> int:
        """Quickest round trip, [ns]; 0 if unknown."""
        return min(self._trips, default=0)

    def to_local(self, stamp_ns: int) -> int:
        """Return a peer's time in ours for equal ways, [ns]."""
        return self.to_arrival(stamp_ns) - self.trip_ns // 2

    def to_arrival(self, stamp_ns: int) -> int:
        """Return the earliest arrival of data sent then, [ns]."""
        return min(max(stamp_ns + self._offset, _LEAST_NS), _MOST_NS)

    def to_past(self, stamp_ns: int, now_ns: int) -> int | None:
        """Return a peer's past time in ours, [ns], or None if too far ahead.

        It may leap, never past ``now_ns``.
        """
        offset_ns = min(self._offsets, default=self._offset) - self.trip_ns // 2
        then_ns = stamp_ns + offset_ns
        if then_ns - now_ns >= _JUMP_NS:
            return None
        return max(min(then_ns, now_ns), _LEAST_NS)

    def compute_age(self, packet: Stamped, then_ns: int, now_ns: int) -> int | None:
        """Return the largest possible age, [ns], if known."""
        if not self._trips:
            return None
        quickest = packet.stamp_ns + min(self._offsets, default=0)
        waited = max(0, now_ns - quickest)
        age_ns = max(0, packet.stamp_ns - then_ns) + waited + self.trip_ns
        return min(age_ns, _MOST_NS)

    def _take_trip(self, packet: Stamped, now_ns: int) -> None:
        trip = now_ns - packet.echo_ns - packet.held_ns
        # a peer whose clock jumped meanwhile has held it for less than no time, or it
        # went quicker than that
        if packet.echo_ns and packet.held_ns >= 0 and trip >= 0:
            if len(self._trips) < len(self._offsets):
                self._trips.append(trip)
            self._trips[-1] = min(self._trips[-1], trip)
            self.waited_ns = trip - self.trip_ns
