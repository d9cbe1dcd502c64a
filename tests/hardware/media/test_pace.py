"""A frame's packets leave one by one, and words about them at once."""

import asyncio

import pytest

pytest.importorskip("aiortc")

from hardware.media.fragments import HEADS
from hardware.media.pace import RATE, Pace, PacedTransport

MEDIA, WORD = bytes([0x80, 96]), bytes([0x80, 200])  # RFC 3550: RTP, RTCP's report


class Wire:
    def __init__(self):
        self.left = []

    async def _send_rtp(self, data):
        self.left.append((asyncio.get_running_loop().time(), len(data), data[:2]))


async def _send_two_frames(wire, n, size):
    """Two videos of one host send a frame each, and one of them a word."""
    pace = Pace()
    videos = [PacedTransport(wire, pace) for _ in range(2)]

    async def send(video):
        for _ in range(n):
            await video._send_rtp(MEDIA.ljust(size, b"\0"))

    async def tell():
        await asyncio.sleep(0.01)
        await videos[0]._send_rtp(WORD.ljust(60, b"\0"))

    await asyncio.gather(*map(send, videos), tell())


def test_packets_of_two_frames_leave_within_the_rate_and_words_at_once():
    wire, n, size = Wire(), 10, 1200
    asyncio.run(_send_two_frames(wire, n, size))

    times = [t for t, _, kind in wire.left if kind == MEDIA]
    (told,) = (t for t, _, kind in wire.left if kind == WORD)
    assert len(times) == 2 * n
    assert times[-1] - times[0] > 0.99 * (2 * n - 1) * (size + HEADS) / RATE
    assert told < times[n], "it did not wait behind the frames"
