"""A frame's packets leave one by one, and words about them at once."""

import asyncio

import pytest

pytest.importorskip("aiortc")

import aiortc

from paprle.hardware.media.fragments import HEADS
from paprle.hardware.media.pace import RATE, Pace, PacedTransport
from paprle.hardware.media.video import VideoPage
from paprle.hardware.web.errors import WebError
from paprle.hardware.web.settings import WebSettings

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


async def _send_video(pace):
    """Send aiortc's own video over the loopback until some of it is seen."""
    here, there = aiortc.RTCPeerConnection(), aiortc.RTCPeerConnection()
    came = asyncio.get_running_loop().create_future()
    there.on("track", lambda track: came.done() or came.set_result(track))
    sender = here.addTrack(aiortc.VideoStreamTrack())
    sender.setTransport(PacedTransport(sender.transport, pace))
    await here.setLocalDescription(await here.createOffer())
    await there.setRemoteDescription(here.localDescription)
    await there.setLocalDescription(await there.createAnswer())
    await here.setRemoteDescription(there.localDescription)
    await asyncio.wait_for((await came).recv(), 10.0)
    sent = [
        one for one in (await sender.getStats()).values() if one.type.startswith("o")
    ]
    await asyncio.gather(here.close(), there.close())
    return sum(one.packetsSent for one in sent)


class Counting(Pace):
    def __init__(self):
        super().__init__()
        self.n = 0

    async def wait(self, n_bytes):
        self.n += 1
        await super().wait(n_bytes)


def test_every_packet_of_this_aiortcs_video_waits_for_its_turn():
    pace = Counting()
    n_sent = asyncio.run(_send_video(pace))

    assert 0 < n_sent <= pace.n


def test_an_aiortc_that_sends_otherwise_is_told_before_a_page_is_served(monkeypatch):
    monkeypatch.delattr(aiortc.RTCDtlsTransport, "_send_rtp")
    page = VideoPage(WebSettings(), lambda: 0)

    with pytest.raises(WebError, match=r"RTCDtlsTransport has '_send_rtp'.*got \d"):
        page.open()
