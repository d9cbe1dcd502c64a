"""Receiver of pictures."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Sequence
from typing import Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from paprle.hardware.media.cloud import POINT, Depth, put_points
from paprle.hardware.media.fragments import (
    HEADS,
    NONCE,
    Ask,
    Fragment,
    derive,
    pack_ask,
    unpack_challenge,
    unpack_part,
)
from paprle.hardware.media.rate import ENOUGH

ASK = 0.01  # [s] chosen: how often a word is said where something came
_JUDGE = 0.05  # [s] chosen: how often a queue is looked for; by then it is 2 ms
_BY_CHANCE = 12.0  # chosen, simulated: at 30 ms of jitter the middle pose is 3 ms later
_OLD = 0.5  # [s] chosen: a queue of so long ago says nothing of now
_RANKS = (0.0, 0.5, 1.0)  # of waits: the quickest, the middle, the slowest
_MOST = 4096  # chosen: datagrams between two words, at 400 Mbit/s
_KEPT = 10.0  # [s] chosen: as long as clocks drift by less than a queue that matters


Joined = TypeVar("Joined")
Vec = npt.NDArray[np.float64]


class ReceivedPicture(NamedTuple):
    """A picture or its part.

    Attributes:
        stamp_ns: Exposure, our clock, late by the quickest datagram's way, [ns].
        depth: Shape (height, width), counts; 0: unknown.
        missing: Lost share.
    """

    stamp_ns: int
    depth: Depth
    missing: float


class Asker(ABC, Generic[Joined]):
    """Requester of a camera, which joins parts.

    Attributes:
        counts: Datagrams and pictures by outcome.
    """

    def __init__(self, secret: bytes, camera: int) -> None:
        """Take the secret and the camera's number; open no socket."""
        self.counts: Counter[str] = Counter()
        self._secret, self._camera = secret, camera
        self._nonce = os.urandom(NONCE)
        self._key = derive(secret, self._nonce)
        self._challenge, self._number = bytes(NONCE), 0
        self._seq = self._n_parts = self._n_bytes = 0
        self._asked = self._judged = -np.inf
        self._told = 0
        self._queue, self._offset = 0.0, np.inf
        self._waits: deque[float] = deque(maxlen=_MOST)
        self._ranked: deque[tuple[float, Vec]] = deque()
        self._picture = 0
        self._parts: dict[int, Fragment] = {}

    @abstractmethod
    def _join(self, parts: Sequence[Fragment], stamp_ns: int) -> Joined | None:
        """Return the parts' picture, or None."""

    def ask(self, now: float) -> bytes | None:
        """Return a due request."""
        if now - self._asked < (ASK if self._seq > self._told else _JUDGE):
            return None
        self._asked, self._told = now, self._seq
        self._number += 1
        if now - self._judged >= _JUDGE and len(self._waits) >= ENOUGH:
            self._judged = now
            self._queue = self._measure_queue(now)
            self._waits.clear()
        elif now - self._judged >= _OLD:
            self._queue = 0.0
        return pack_ask(
            self._secret,
            Ask(
                self._camera,
                self._nonce,
                self._challenge,
                self._number,
                self._seq,
                self._n_parts,
                self._n_bytes % 2**32,
                min(int(1e6 * self._queue), 2**31 - 1),
                max(0, self._seq - self._n_parts),
            ),
        )

    def _measure_queue(self, now: float) -> float:
        # A queue delays quickest, middle and slowest alike. Jitter delays some; where
        # it holds up what is behind it delays the quickest, too, but never the slowest
        # beyond what is usual. So what was shifted least is the queue.
        ranked = np.quantile(self._waits, _RANKS)
        self._ranked.append((now, ranked))
        while now - self._ranked[0][0] > _KEPT:
            self._ranked.popleft()
        usual = np.min([waits for _, waits in self._ranked], axis=0)
        self._offset = float(usual[0])
        by_chance = float(ranked[-1] - ranked[0]) / _BY_CHANCE
        return max(0.0, float(np.min(ranked - usual)) - by_chance)

    def receive(self, data: bytes, now: float) -> Joined | None:
        """Return the picture completed by a datagram at a time, [s]."""
        challenge = unpack_challenge(self._secret, data)
        if challenge is not None and challenge.nonce == self._nonce:
            self._challenge, self._asked = challenge.challenge, -np.inf
            return None
        part = unpack_part(self._key, data)
        if part is None or part.camera != self._camera or part.part >= part.n_parts:
            self.counts["refused"] += 1
            return None
        is_doubled = part.picture == self._picture and part.part in self._parts
        if part.picture < self._picture or is_doubled:
            self.counts["late or doubled"] += 1
            return None
        self._seq = max(self._seq, part.seq)
        self._n_parts += 1
        self._n_bytes += len(data) + HEADS
        wait = now - part.sent_ns * 1e-9
        self._waits.append(wait)
        self._offset = min(self._offset, wait)
        begun = None
        if part.picture > self._picture:
            begun = self._finish()
            if self._picture:
                self.counts["pictures lost"] += part.picture - self._picture
            self._picture = part.picture
        self._parts[part.part] = part
        is_whole = len(self._parts) == part.n_parts
        return self._finish() if is_whole else begun

    def _finish(self) -> Joined | None:
        parts, self._parts = list(self._parts.values()), {}
        self._picture += bool(parts)
        if not parts:
            return None
        self.counts["pictures"] += 1
        self.counts["parts lost"] += parts[0].n_parts - len(parts)
        offset = self._offset if self._offset < np.inf else 0.0
        return self._join(parts, parts[0].stamp_ns + round(1e9 * offset))


class Receiver(Asker[ReceivedPicture]):
    """Receiver of depth as clouds."""

    def __init__(self, secret: bytes, camera: int, shape: tuple[int, int]) -> None:
        """Take the shape: height, width."""
        super().__init__(secret, camera)
        self._shape = shape

    def _join(self, parts: Sequence[Fragment], stamp_ns: int) -> ReceivedPicture | None:
        depth = np.zeros(self._shape, np.uint16)
        for part in parts:
            whole = len(part.body) // POINT.itemsize
            points = np.frombuffer(part.body, POINT, count=whole)
            self.counts["points outside"] += put_points(depth, points)
        return ReceivedPicture(stamp_ns, depth, 1.0 - len(parts) / parts[0].n_parts)
