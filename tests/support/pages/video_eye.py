"""Looks at a robot's video page as a browser does, and at the poses beside it.

``python video_eye.py ADDRESS SECONDS`` prints, as JSON, how many poses came and p50 and
p99 of their way, [ms], without video and beside it, and how many frames were seen. Both
hosts are one machine, so that they share a clock.
"""

import asyncio
import json
import socket
import ssl
import struct
import sys
import time
from urllib.parse import urlparse

import numpy as np
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import MediaStreamError
from video_host import PORT
from websockets.asyncio.client import connect

PIECE = 2000  # letters of an offer at once


class Ear(asyncio.DatagramProtocol):
    """Notes the way of each pose, [ms]."""

    def __init__(self):
        self.ways = []

    def datagram_received(self, data, _):
        (sent_ns,) = struct.unpack_from("<q", data)
        self.ways.append(1e-6 * (time.monotonic_ns() - sent_ns))


async def count(track, frames):
    try:
        while True:
            await track.recv()
            frames.append(time.monotonic())
    except MediaStreamError:
        return


async def open_video(ws, frames):
    """Offer, take the answer, and count what comes; return the peer."""
    await ws.send(json.dumps({"type": "look"}))
    while not json.loads(await ws.recv())["names"]:
        await asyncio.sleep(0.1)
        await ws.send(json.dumps({"type": "look"}))
    peer = RTCPeerConnection(RTCConfiguration(iceServers=[]))
    peer.addTransceiver("video", direction="recvonly")
    peer.counts = []

    @peer.on("track")
    def begin(track):
        peer.counts.append(asyncio.ensure_future(count(track, frames)))

    await peer.setLocalDescription(await peer.createOffer())
    sdp = peer.localDescription.sdp
    for at in range(0, len(sdp), PIECE):
        is_last = at + PIECE >= len(sdp)
        offer = {"type": "offer", "sdp": sdp[at : at + PIECE], "isLast": is_last}
        await ws.send(json.dumps(offer))
    answer = json.loads(await ws.recv())
    while answer["type"] != "answer":
        answer = json.loads(await ws.recv())
    await peer.setRemoteDescription(RTCSessionDescription(answer["sdp"], "answer"))
    return peer


def tell(ways):
    return [len(ways), *np.percentile(ways, [50, 99])]


async def main(address, seconds):
    loop = asyncio.get_running_loop()
    listening = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    listening.bind(("", PORT))
    _, ear = await loop.create_datagram_endpoint(Ear, sock=listening)
    await asyncio.sleep(seconds)
    alone, ear.ways = ear.ways, []

    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    url, frames = urlparse(address), []
    async with connect(
        f"wss://{url.netloc}/video",
        ssl=context,
        origin=f"https://{url.netloc}",
        subprotocols=["paprle", url.fragment],
    ) as ws:
        peer = await open_video(ws, frames)
        end = time.monotonic() + 30.0
        while not frames and time.monotonic() < end:
            await asyncio.sleep(0.1)
        ear.ways, before = [], len(frames)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            await asyncio.sleep(0.3)
            await ws.send(json.dumps({"type": "look"}))
        beside, n = ear.ways, len(frames) - before
        await peer.close()
    told = {"alone": tell(alone), "beside": tell(beside), "frames": n}
    sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], float(sys.argv[2])))
