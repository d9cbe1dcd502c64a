"""Page of videos by WebRTC (aiortc), 0.25 to 1.5 Mbit/s each by REMB.

Packets are paced at 2 Mbit/s a camera.
"""

from __future__ import annotations

import asyncio
import fractions
import importlib.resources
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import av
import numpy as np
from aiortc import (
    RTCConfiguration,
    RTCPeerConnection,
    RTCSessionDescription,
    VideoStreamTrack,
)

from paprle.hardware.media.ids import paint_ids
from paprle.hardware.media.pace import RATE, Pace, PacedTransport, check_aiortc
from paprle.hardware.web.client import Client
from paprle.hardware.web.serving.addresses import find_place
from paprle.hardware.web.serving.certificate import find_certificate, find_folder
from paprle.hardware.web.serving.server import Page, Site, WebServer
from paprle.hardware.web.settings import WebSettings

_SOCKET = "/video"
_KINDS = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}
_CLOCK = fractions.Fraction(1, 90_000)  # spec: RFC 3551, video
_NAP = 0.004  # [s] chosen: how soon a new image is seen
_LONGEST_OFFER = 100_000  # [letters] chosen: ten times a browser's
_NEAR, _FAR = 0.2, 3.0  # [m] chosen: depth that is drawn, white to black


class ImageInfo(Protocol):
    """A camera, for drawing."""

    width: int
    height: int
    encoding: str
    depth_unit: float


class Image(Protocol):
    """One image."""

    stamp_ns: int
    data: bytes


class VideoPage:
    """Server of the newest images."""

    def __init__(self, settings: WebSettings, clock: Callable[[], int]) -> None:
        self._settings, self._clock = settings, clock
        self._newest: dict[str, tuple[ImageInfo, Image]] = {}
        self._lock = threading.Lock()
        self._pace = Pace()
        self.server: WebServer | None = None

    @property
    def notes(self) -> Sequence[str]:
        """Secret address of the page, as text."""
        return [f"see what its cameras see at {self.address}"] if self.address else []

    @property
    def address(self) -> str:
        """Address with its token."""
        if self.server is None:
            return ""
        return f"{self.server.address}#{self.server.door.token}"

    def open(self) -> None:
        """Serve the page.

        Raises:
            WebError: Serving or pacing is impossible.
        """
        check_aiortc()
        place, context = find_place(self._settings.listen), None
        if place.has_tls:
            folder = Path(self._settings.certificate or find_folder()).expanduser()
            context = find_certificate(folder, place.names).make_context()
        site = Site(_load_pages(), {_SOCKET: self._handle})
        server = WebServer(place, self._settings.port, site, self._clock)
        server.open(context)
        self.server = server

    def show(self, name: str, info: ImageInfo, image: Image) -> None:
        """Take a camera's newest image."""
        with self._lock:
            self._newest[name] = info, image

    def find(self, name: str) -> tuple[ImageInfo, Image] | None:
        """Return the newest image of a camera."""
        with self._lock:
            return self._newest.get(name)

    def close(self) -> None:
        """Stop serving."""
        if self.server is not None:
            self.server.close()
            self.server = None

    async def _handle(self, client: Client) -> None:
        peer: RTCPeerConnection | None = None
        offer = ""
        try:
            async for text in client.listen():
                message = _read(text)
                if message.get("type") == "look":
                    names = json.dumps({"type": "cameras", "names": self._list()})
                    await client.send(names)
                elif message.get("type") == "offer" and peer is None:
                    offer = (offer + str(message.get("sdp", "")))[:_LONGEST_OFFER]
                    if message.get("isLast"):
                        peer = RTCPeerConnection(RTCConfiguration(iceServers=[]))
                        await self._answer(peer, client, offer)
        finally:
            if peer is not None:
                await peer.close()

    def _list(self) -> list[str]:
        with self._lock:
            return sorted(self._newest)

    async def _answer(
        self, peer: RTCPeerConnection, client: Client, offer: str
    ) -> None:
        try:
            offer = _leave_out_hidden(offer)
            await peer.setRemoteDescription(RTCSessionDescription(offer, "offer"))
        except (ValueError, AssertionError, IndexError, KeyError) as err:
            await client.close(1008, f"expected an offer, got {type(err).__name__}")
            return
        shown = list(zip(self._list(), peer.getTransceivers(), strict=False))
        self._pace.rate = RATE * max(1, len(shown))
        for name, _ in shown:
            sender = peer.addTrack(NewestTrack(partial(self.find, name)))
            sender.setTransport(PacedTransport(sender.transport, self._pace))
        await peer.setLocalDescription(await peer.createAnswer())
        answer = {"type": "answer", "sdp": peer.localDescription.sdp}
        await client.send(json.dumps(answer))


class NewestTrack(VideoStreamTrack):  # type: ignore[misc]  # aiortc has no types here
    """A camera's newest images."""

    def __init__(self, find: Callable[[], tuple[ImageInfo, Image] | None]) -> None:
        super().__init__()
        self._find = find
        self._stamp_ns = self._begin_ns = 0

    async def recv(self) -> av.VideoFrame:
        """Return the next unsent image."""
        while (found := self._find()) is None or found[1].stamp_ns == self._stamp_ns:
            await asyncio.sleep(_NAP)
        info, image = found
        self._stamp_ns = image.stamp_ns
        self._begin_ns = self._begin_ns or image.stamp_ns
        frame = av.VideoFrame.from_ndarray(draw(info, image), format="rgb24")
        seconds = (image.stamp_ns - self._begin_ns) * 1e-9
        frame.pts, frame.time_base = round(seconds / _CLOCK), _CLOCK
        return frame


def draw(info: ImageInfo, image: Image) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Return RGB, shape (height, width, 3), even sizes.

    Raises:
        ValueError: It does not match its camera.
    """
    size = (info.height, info.width)
    if info.encoding == "rgb8":
        rgb = np.frombuffer(image.data, np.uint8).reshape(*size, 3)
    elif info.encoding == "mono8":
        rgb = np.frombuffer(image.data, np.uint8).reshape(size)
    elif info.encoding == "depth16":
        depth = np.frombuffer(image.data, "<u2").reshape(size) * info.depth_unit
        near = np.clip((_FAR - depth) / (_FAR - _NEAR), 0.0, 1.0) * (depth > 0.0)
        rgb = (255 * near).astype(np.uint8)
    elif info.encoding == "ids16":
        rgb = paint_ids(np.frombuffer(image.data, "<u2").reshape(size))
    else:
        decoder = av.CodecContext.create(
            "mjpeg" if info.encoding == "jpeg" else "png", "r"
        )
        rgb = decoder.decode(av.Packet(image.data))[0].to_ndarray(format="rgb24")
    if rgb.ndim == 2:  # of one channel
        rgb = np.repeat(rgb[:, :, None], 3, axis=2)
    height, width = rgb.shape[0] // 2 * 2, rgb.shape[1] // 2 * 2
    return np.ascontiguousarray(rgb[:height, :width])


def _leave_out_hidden(offer: str) -> str:
    # to look for the names takes five seconds; it is answered where it speaks from
    lines = offer.splitlines(keepends=True)
    return "".join(
        one for one in lines if not (one.startswith("a=cand") and ".local" in one)
    )


def _read(text: str | bytes) -> Mapping[str, Any]:
    try:
        message = json.loads(text)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}


def _load_pages() -> Mapping[str, Page]:
    pages = {}
    for file in (importlib.resources.files("paprle.hardware.media") / "page").iterdir():
        kind = _KINDS.get(Path(file.name).suffix)
        if kind is not None:
            pages[f"/{file.name}"] = Page(file.read_bytes(), f"{kind}; charset=utf-8")
    return pages | {"/": pages["/index.html"]}
