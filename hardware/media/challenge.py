"""Stateless challenge against replay, by address, time and key."""

from __future__ import annotations

import hashlib
import hmac
import os
from collections import Counter
from typing import Any

from paprle.hardware.media.fragments import (
    NONCE,
    Ask,
    Challenge,
    pack_challenge,
    unpack_ask,
)

_LASTS = 10.0  # [s] chosen: an ask comes twenty times a second
_N_ASKERS = 64  # chosen: cameras and askers whose numbers are remembered


class Challenger:
    """Check of datagrams.

    Attributes:
        counts: Datagrams ``refused``, ``challenged`` and ``played again``.
    """

    def __init__(self, secret: bytes) -> None:
        self.counts: Counter[str] = Counter()
        self._secret, self._own = secret, os.urandom(32)
        self._numbers: dict[tuple[bytes, int], int] = {}

    def hear(
        self, data: bytes, address: tuple[Any, ...], now: float
    ) -> tuple[Ask | None, bytes | None]:
        """Return a datagram's valid request, and the reply, if any."""
        ask = unpack_ask(self._secret, data)
        if ask is None:
            self.counts["refused"] += 1
            return None, None
        period = int(now / _LASTS)
        newest = self._make(address, period)
        if hmac.compare_digest(ask.challenge, newest):
            return self._take(ask), None
        answer = pack_challenge(self._secret, Challenge(ask.nonce, newest))
        if hmac.compare_digest(ask.challenge, self._make(address, period - 1)):
            return self._take(ask), answer
        self.counts["challenged"] += 1
        return None, answer

    def _take(self, ask: Ask) -> Ask | None:
        key = ask.nonce, ask.camera
        if ask.number <= self._numbers.pop(key, 0):
            self.counts["played again"] += 1
            return None
        self._numbers[key] = ask.number
        if len(self._numbers) > _N_ASKERS:
            del self._numbers[next(iter(self._numbers))]
        return ask

    def _make(self, address: tuple[Any, ...], period: int) -> bytes:
        said = repr((*address, period)).encode()
        return hashlib.blake2b(said, key=self._own, digest_size=NONCE).digest()
