"""Sender of pictures, thinned to the link."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter, deque
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from paprle.hardware.media.cloud import Depth, choose_points, find_edges
from paprle.hardware.media.fragments import (
    OVERHEAD,
    PAYLOAD,
    POINTS,
    Ask,
    Fragment,
    compute_room,
    derive,
    pack_part,
)
from paprle.hardware.media.rate import LEAST, RateEstimator, Word
from paprle.hardware.media.under_way import UnderWay

_ASKED = 2.0  # [s] chosen: who has not asked for so long is gone
_WHILE = 0.5  # [s] chosen: over which a rate is measured; a picture or more
_ENOUGH = 30  # chosen: datagrams, so that one more lost is no sign of anything
_BURST = PAYLOAD + OVERHEAD  # [bytes] chosen: a pose waits for one datagram at most

Image = TypeVar("Image")


class ImageSource(NamedTuple):
    """Images of a camera.

    Attributes:
        unit: One count of depth, [m].
        period: Between images, [s].
    """

    number: int
    unit: float
    period: float


class Spreader(ABC, Generic[Image]):
    """Sender to the last asker.

    Attributes:
        counts: Pictures and contents by outcome.
    """

    def __init__(
        self, secret: bytes, number: int, rate: RateEstimator, pose_rate: float
    ) -> None:
        """Take the rate of poses, [bytes/s]; open no socket."""
        self.rate, self.counts = rate, Counter[str]()
        rate.least = pose_rate + LEAST  # or nothing would tell that there is room
        self.is_asked = False
        self.number = number
        self._secret, self._pose_rate = secret, pose_rate
        self._nonce = self._key = b""
        self._asked = self._now = -np.inf
        self._heard: deque[tuple[float, Ask]] = deque()
        self._judged: Ask | None = None
        self._loss = 0.0
        self._waiting: deque[Fragment] = deque()
        self._next: tuple[int, Image] | None = None
        self._n_pictures = self._seq = 0
        self._under_way = UnderWay()
        self._tokens = 0.0

    @abstractmethod
    def _cut(self, image: Image) -> list[bytes]:
        """Return an image's parts, within the room."""

    def hear(self, ask: Ask, now: float) -> None:
        """Take a request at a time, [s]."""
        if ask.nonce != self._nonce:
            self._nonce, self._key = ask.nonce, derive(self._secret, ask.nonce)
            self._seq, self._judged = 0, None
            self._heard.clear()
            self._under_way = UnderWay()
            self._waiting.clear()  # the rest of a picture begun for somebody else
        self._learn(ask, now)
        self._asked, self.is_asked = now, True

    def offer(self, stamp_ns: int, image: Image) -> None:
        """Queue an image exposed at ``stamp_ns``, [ns]."""
        if self.is_asked:
            self.counts["left out"] += self._next is not None
            self._next = stamp_ns, image

    def _begin(self, stamp_ns: int, image: Image) -> None:
        bodies = self._cut(image)
        self._n_pictures += 1
        self.counts["pictures"] += 1
        for k, body in enumerate(bodies):
            head = (self.number, self._n_pictures, stamp_ns, k, len(bodies), 0, 0)
            self._waiting.append(Fragment(*head, body))

    def step(self, now: float, now_ns: int) -> list[bytes]:
        """Return the datagrams allowed at a time, [s] and [ns]."""
        dt = max(0.0, now - self._now) if np.isfinite(self._now) else 0.0
        self._now, self.is_asked = now, now - self._asked < _ASKED
        self.rate.look(now)
        free = max(0.0, self.rate.rate - self._pose_rate)
        self._tokens = min(_BURST, self._tokens) + free * dt
        if not self._waiting and self._next is not None and self.is_asked:
            self._begin(*self._next)
            self._next = None
        sent: list[bytes] = []
        while self.is_asked and self._waiting:
            n_bytes = len(self._waiting[0].body) + OVERHEAD
            if n_bytes > self._tokens or not self._under_way.has_room(free, now):
                break
            self._tokens -= n_bytes
            self._seq += 1
            part = self._waiting.popleft()._replace(seq=self._seq, sent_ns=now_ns)
            self._under_way.leave(self._seq, n_bytes, now)
            sent.append(pack_part(self._key, part))
        return sent

    def _learn(self, ask: Ask, now: float) -> None:
        self._under_way.arrive(ask.seq, now)
        heard = self._heard
        while len(heard) > 1 and now - heard[1][0] > _WHILE:
            heard.popleft()
        if heard:
            then, before = heard[0]
            received = ((ask.n_bytes - before.n_bytes) % 2**32) / max(now - then, 1e-3)
            word = Word(
                received + self._pose_rate,
                self._under_way.told + self._pose_rate,
                max(0.0, ask.queue_us * 1e-6),
                self._measure_loss(ask),
                self._under_way.usual,
            )
            self.rate.update(now, word)
        heard.append((now, ask))

    def _measure_loss(self, ask: Ask) -> float:
        since = self._judged
        if since is None or ask.n_parts < since.n_parts:
            self._judged, self._loss = ask, 0.0
            return 0.0
        n_lost = max(0, ask.n_lost - since.n_lost)
        n_sent = n_lost + ask.n_parts - since.n_parts
        if n_sent >= _ENOUGH:
            self._judged, self._loss = ask, n_lost / n_sent
        return self._loss


class Sender(Spreader[Depth]):
    """Sender of depth as clouds, shape (height, width), counts; 0: unknown."""

    def __init__(
        self, secret: bytes, source: ImageSource, rate: RateEstimator, pose_rate: float
    ) -> None:
        """Take the camera and the rate of poses, [bytes/s]."""
        super().__init__(secret, source.number, rate, pose_rate)
        self._source = source

    def _cut(self, image: Depth) -> list[bytes]:
        source = self._source
        n_max = compute_room(self.rate.rate, source.period, self._pose_rate)
        points = choose_points(image, find_edges(image, source.unit), n_max)
        n_parts = -(-len(points) // POINTS)
        self.counts["points left out"] += int((image > 0).sum()) - len(points)
        # every n-th point, so that a loss thins all alike
        return [points[k::n_parts].tobytes() for k in range(n_parts)]
