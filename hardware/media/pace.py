"""Packets of video leave one after another, not a whole frame at once.

aiortc sends the packets of a frame as fast as it can: 30 kB of a first frame are 50 ms
of a way of 5 Mbit/s, behind which poses wait. Spread, a pose waits for one of them.
"""

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
    """Make sure that packets can be made to wait: the first name is aiortc's own.

    Raises:
        WebError: If this aiortc has it no more.
    """
    for owner, name in _USED:
        if not hasattr(owner, name):
            raise WebError(
                f"expected an aiortc whose {owner.__name__} has '{name}', by which "
                f"video gives way to poses, got {aiortc.__version__}: pip install "
                "'paprle[sight]', or observers.sight.video=false"
            )


class Pace:
    """The turns of all videos that one host sends.

    Attributes:
        rate: What leaves at most, [bytes/s].
    """

    def __init__(self) -> None:
        """Begin; the first packet leaves at once."""
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
    """aiortc's transport of a sender, whose media waits for its turn."""

    def __init__(self, transport: Any, pace: Pace) -> None:
        """Stand before a transport."""
        self._transport, self._pace = transport, pace

    def __getattr__(self, name: str) -> Any:
        """Return what it leaves as it is."""
        return getattr(self._transport, name)

    async def _send_rtp(self, data: bytes) -> None:
        if not is_rtcp(data):
            await self._pace.wait(len(data))
        await self._transport._send_rtp(data)  # noqa: SLF001 - there is no other way
