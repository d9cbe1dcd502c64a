"""Pacing of video packets, in favour of poses."""

from __future__ import annotations

import asyncio
from typing import Any

import aiortc
from aiortc.rtp import is_rtcp

from paprle.hardware.media.fragments import HEADS
from paprle.hardware.web.errors import WebError

RATE = 250_000.0  # [bytes/s] chosen: of one video; aiortc makes 1.5 Mbit/s at most

_USED = (aiortc.RTCDtlsTransport, "_send_rtp"), (aiortc.RTCRtpSender, "setTransport")


def check_aiortc() -> None:
    """Check for the replaced attributes of aiortc.

    Raises:
        WebError: Missing attribute.
    """
    for owner, name in _USED:
        if not hasattr(owner, name):
            raise WebError(
                f"expected an aiortc whose {owner.__name__} has '{name}', by which "
                f"video gives way to poses, got {aiortc.__version__}: pip install "
                "'paprle[sight]', or observers.sight.video=false"
            )


class Pace:
    """Pace of a host's videos; ``rate`` in [bytes/s]."""

    def __init__(self) -> None:
        self.rate = RATE
        self._free = 0.0

    async def wait(self, n_bytes: int) -> None:
        """Wait until a packet may leave."""
        now = asyncio.get_running_loop().time()
        begin = max(now, self._free)
        self._free = begin + (n_bytes + HEADS) / self.rate
        if begin > now:
            await asyncio.sleep(begin - now)


class PacedTransport:
    """aiortc's transport with paced media."""

    def __init__(self, transport: Any, pace: Pace) -> None:
        self._transport, self._pace = transport, pace

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    async def _send_rtp(self, data: bytes) -> None:
        if not is_rtcp(data):
            await self._pace.wait(len(data))
        await self._transport._send_rtp(data)  # noqa: SLF001 - there is no other way
