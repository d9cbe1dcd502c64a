"""Another host's monotonic clock, as far as datagrams tell of it.

The smallest difference between arrival and stamp is that of the quickest datagram: what
another took longer, it waited on the way. How long the quickest took nobody can know
but that it was no longer than the quickest round trip: ages are counted with all of it,
and times that are only shown with half. Both are kept for some seconds, so that a drift
is followed, and times are carried over by an offset that follows smoothly, so that they
never leap nor run backwards; a clock that jumps begins anew, and so does a way that
grew by as much: until a round trip has been seen since, nobody knows how old anything
is. Nothing here makes a set-point younger than it is.
"""

from __future__ import annotations

from typing import Protocol

_BUCKET_NS = 10_000_000_000  # [ns] chosen: at 200 ppm two of them drift by 4 ms
_JUMP_NS = 1_000_000_000  # [ns] spec: safety.md A1, ±1 s
_SLEW = 1e-3  # chosen: five times the drift of a poor crystal
_SETTLE_NS = 2_000_000_000  # [ns] chosen: a slow first datagram is forgotten in 10 s
_LEAST_NS, _MOST_NS = -(2**63), 2**63 - 1  # spec: what a record's stamp can hold


class Stamped(Protocol):
    """The time stamps of a datagram, [ns]."""

    @property
    def stamp_ns(self) -> int:
        """The time of sending, in the sender's time."""

    @property
    def echo_ns(self) -> int:
        """The newest stamp the sender had from us, in our time; 0: none."""

    @property
    def held_ns(self) -> int:
        """The time since that stamp arrived at the sender."""


class PeerClock:
    """Estimates a peer's clock from what arrives.

    Attributes:
        n_jumps: How often its clock jumped, or a datagram took more than a second.
        waited_ns: How much longer than the quickest the newest round trip took, [ns].
        echo_ns: The newest of our stamps that the peer has had, [ns]; 0: none yet.
    """

    def __init__(self) -> None:
        self.n_jumps = self.waited_ns = self.echo_ns = 0
        self._heard_ns: int | None = None
        self._newest: tuple[int, int] | None = None
        self._begin_ns = self._offset = 0
        self._offsets: list[int] = []
        self._trips: list[int] = []

    def take(self, packet: Stamped, now_ns: int) -> None:
        """Learn from a datagram that arrived now."""
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
        """Return what lets the peer measure a round trip, see ``Stamped``.

        It tells the peer, too, which of its words is the newest that came here.
        """
        if self._newest is None:
            return 0, 0
        return self._newest[0], now_ns - self._newest[1]

    def find_echo_age(self, now_ns: int) -> int:
        """Return the age of our newest stamp that the peer has echoed, [ns]; 0: none.

        It grows while either way is shut.
        """
        return now_ns - self.echo_ns if self.echo_ns else 0

    @property
    def trip_ns(self) -> int:
        """The time of the quickest round trip, [ns]; 0 before it is known."""
        return min(self._trips, default=0)

    def to_local(self, stamp_ns: int) -> int:
        """Return a peer's time in ours, as if both ways took the same, [ns]."""
        return self.to_arrival(stamp_ns) - self.trip_ns // 2

    def to_arrival(self, stamp_ns: int) -> int:
        """Return when what was sent at a peer's time arrives at the soonest, [ns]."""
        return min(max(stamp_ns + self._offset, _LEAST_NS), _MOST_NS)

    def to_past(self, stamp_ns: int, now_ns: int) -> int | None:
        """Return the time of a past event at a peer, in our time, [ns].

        It goes by the quickest datagram so far, so that it is right at once where the
        first one was slow, and leaps once where a quicker one comes.

        Args:
            stamp_ns: The peer's time in question.
            now_ns: Our time; the result is never later.

        Returns:
            The time; None where it is farther ahead than a clock that is followed can
            be: the stamp is wrong.
        """
        offset_ns = min(self._offsets, default=self._offset) - self.trip_ns // 2
        then_ns = stamp_ns + offset_ns
        if then_ns - now_ns >= _JUMP_NS:
            return None
        return max(min(then_ns, now_ns), _LEAST_NS)

    def compute_age(self, packet: Stamped, then_ns: int, now_ns: int) -> int | None:
        """Return the largest possible age of the content of a new datagram, [ns].

        Args:
            packet: The datagram, taken before.
            then_ns: The peer's time in question.
            now_ns: Our time.

        Returns:
            The age, all of the round trip included, for the way here may be all of
            it; None while that is not known.
        """
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
