"""Reliable, ordered records over datagrams."""

from __future__ import annotations

import struct
from collections import deque

from paprle.link.rates import Leftover

_HEAD = struct.Struct("<qq")  # number, the oldest that can still be had
_ACK = struct.Struct("<q")  # the number that is wanted next
_WINDOW = 64  # chosen: datagrams under way; 2.5 s of a gate of 200 Hz
_TRIPS = 3.0  # chosen: without an answer the datagram or its answer was lost
_LEAST_NS = 100_000_000  # [ns] chosen: how long an answer may be computed


class Sending:
    """Sender; ``n_given_up`` counts records without room."""

    def __init__(self, bound: int) -> None:
        self.n_given_up = 0
        self._waiting: deque[bytes] = deque()
        self._bound, self._first, self._next = bound, 1, 1
        self._unsent = 1
        self._heard_ns = 0

    @property
    def n_last(self) -> int:
        """Newest number."""
        return self._first + len(self._waiting) - 1

    @property
    def is_empty(self) -> bool:
        """Whether all records have arrived."""
        return not self._waiting

    def put(self, payload: bytes) -> None:
        """Append a record."""
        self._waiting.append(payload)
        if len(self._waiting) > self._bound:
            self.n_given_up += 1
            self._drop_to(self._first + 1)

    def take_ack(self, payload: bytes, now_ns: int) -> bool:
        """Take the number the peer wants next; False if impossible."""
        if len(payload) != _ACK.size:
            return False
        (wanted,) = _ACK.unpack(payload)
        if wanted > self._unsent:
            return False
        if wanted > self._first:
            self._heard_ns = now_ns
            self._drop_to(wanted)
        return True

    def list_due(self, leftover: Leftover, trip_ns: int, now_ns: int) -> list[bytes]:
        """Return the datagrams due; ``trip_ns``: round trip."""
        wait_ns = max(_LEAST_NS, int(_TRIPS * trip_ns))
        if self._next == self._first:
            self._heard_ns = now_ns
        elif now_ns - self._heard_ns > wait_ns:
            self._heard_ns, self._next = now_ns, self._first
        due = []
        end = min(self._first + _WINDOW, self.n_last + 1)
        while self._next < end and leftover.take(now_ns):
            payload = self._waiting[self._next - self._first]
            due.append(_HEAD.pack(self._next, self._first) + payload)
            self._next += 1
        self._unsent = max(self._unsent, self._next)
        return due

    def _drop_to(self, first: int) -> None:
        for _ in range(first - self._first):
            self._waiting.popleft()
        self._first, self._next = first, max(self._next, first)


class Receiving:
    """Receiver; ``n_lost`` counts unavailable records."""

    def __init__(self) -> None:
        self.n_lost = 0
        self._wanted = 1
        self._early: dict[int, bytes] = {}

    @property
    def n_last(self) -> int:
        """Newest number received with all before it."""
        return self._wanted - 1

    def receive(self, payload: bytes) -> list[bytes]:
        """Return the records available in order."""
        if len(payload) < _HEAD.size:
            return []
        number, oldest = _HEAD.unpack_from(payload)
        if not oldest <= number < oldest + _WINDOW or oldest < 1:
            return []
        if self._wanted < oldest:
            n_here = sum(early < oldest for early in self._early)
            self.n_lost += oldest - self._wanted - n_here
        if self._wanted <= number:
            self._early[number] = payload[_HEAD.size :]
        return self._take_from(oldest)

    def make_ack(self) -> bytes:
        """Return the acknowledgement."""
        return _ACK.pack(self._wanted)

    def _take_from(self, oldest: int) -> list[bytes]:
        found = []
        for number in sorted(self._early):
            if number > max(self._wanted, oldest):
                break
            found.append(self._early.pop(number))
            self._wanted = number + 1
        self._wanted = max(self._wanted, oldest)
        return found
