"""Sender of a remote leader's captures."""

from __future__ import annotations

from collections import deque
from dataclasses import replace

from paprle.contracts.types import LeaderInfo, LeaderSample
from paprle.link.leader_end import LeaderEnd
from paprle.link.remote_leader.captures import CaptureCodec, Packed

_ALIVE_NS = 25_000_000  # [ns] chosen: three in a row may be lost within T_stale
_EARLY_NS = 1_000_000  # [ns] chosen: a device's period is not quite even


class CaptureSender:
    """Sender that repeats captures; ``n_sent`` counts them."""

    def __init__(self, end: LeaderEnd, info: LeaderInfo, repeats: int) -> None:
        self.n_sent = 0
        self._end, self._codec = end, CaptureCodec(info)
        self._period_ns = round(1e9 / info.rate)
        self._recent: deque[Packed] = deque(maxlen=repeats + 1)
        self._seq, self._was_released = -1, False
        self._said_ns = self._due_ns = 0

    def step(
        self, sample: LeaderSample | None, now_ns: int, *, is_released: bool = False
    ) -> None:
        """Send the newest sample or a sign of life, invalid if released."""
        self._end.ask(now_ns)
        if sample is None or not self._end.heard_ns:  # nobody has begun to listen
            return
        if is_released:
            sample = replace(sample, valid=False)
        is_new = sample.seq != self._seq and now_ns >= self._due_ns - _EARLY_NS
        if is_new or is_released != self._was_released:
            self._was_released = is_released
            self._seq = sample.seq
            self._due_ns = max(self._due_ns, now_ns - self._period_ns)
            self._due_ns += self._period_ns
            self._recent.append(self._codec.pack(sample))
            self.n_sent += 1
        elif now_ns - self._said_ns < _ALIVE_NS:
            return
        if self._recent:
            self._said_ns = now_ns
            payload = self._codec.join(self.n_sent, self._recent, now_ns)
            self._end.send_whole("sample", payload, now_ns)
