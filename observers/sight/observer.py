"""Sends images as datagrams and as a page.

A low-priority thread sends clouds, another serves the page.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import socket
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from paprle.contracts.errors import ConfigError, DeviceError, MissingDependency
from paprle.contracts.images import EXACT, CameraInfo
from paprle.contracts.kit.secret import read_secret
from paprle.contracts.plugins import Clock, Frame, Observer, SessionView
from paprle.contracts.types import RobotInfo
from paprle.hardware.media.challenge import Challenger
from paprle.hardware.media.fragments import Ask
from paprle.hardware.web.errors import WebError
from paprle.hardware.web.serving.addresses import find_place
from paprle.observers.sight.config import SightConfig

_NICE = 10  # chosen: a picture waits for whoever moves a robot
_NAP = 0.002  # [s] chosen: a datagram's time on a link of 5 Mbit/s
_BACKGROUND = 0x20  # spec: RFC 3662, class selector 1: after all other traffic
_FIRST = 62_500.0  # [bytes/s] chosen: 0.5 Mbit/s, which any link with poses has
_MBIT = 125_000.0  # [bytes/s] spec: of one Mbit/s
_HERE_ALONE = (
    "this machine alone sees them; observers.sight.listen=lan, or this machine's "
    "address on the network of the link, lets others ask"
)
_MOST = 256  # chosen: asks a look; those who look ask fifty times a second
_LARGEST = 2048  # [bytes] chosen: no ask is longer
_CLOSING = 2.0  # [s] chosen: nobody waits longer


_Flow = tuple[str, Literal["clouds", "colour"]]


class Sight(Observer):
    """Sends clouds, colour and video."""

    config: SightConfig

    def __init__(self, config: SightConfig, robot: RobotInfo, clock: Clock) -> None:
        super().__init__(config, robot, clock)
        self._socket: socket.socket | None = None
        # by the name of a camera, and whether it is its clouds or its colour
        self._senders: dict[_Flow, Any] = {}
        self._peers: dict[_Flow, Any] = {}
        self._newest: dict[_Flow, Any] = {}
        self._asks: dict[int, tuple[Ask, tuple[Any, ...]]] = {}  # by camera's number
        self._secret, self._address = b"", ""
        self._challenger = Challenger(b"")
        self._video: Any = None
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._told: list[str] = []

    @property
    def notes(self) -> Sequence[str]:
        """Addresses of page and clouds."""
        where = f"{self._address}, UDP port {self.config.udp_port}"
        notes = [f"clouds and colour are asked for at {where}"]
        if self.config.listen == "usb":
            notes.append(_HERE_ALONE)
        return [*notes, *([] if self._video is None else self._video.notes)]

    @property
    def closing_notes(self) -> Sequence[str]:
        """Counts and rates of pictures."""
        words = [
            f"{name}, {what}: {dict(one.counts)}, {one.rate.rate / _MBIT:.1f} Mbit/s "
            "at last"
            for (name, what), one in self._senders.items()
            if one.counts
        ]
        counts = self._challenger.counts
        told = ", ".join(f"{why} {n}" for why, n in sorted(counts.items()))
        return [*words, *([f"asks: {told}"] if told else [])]

    def open(self) -> None:
        """Listen for clients, and serve the page.

        Raises:
            DeviceError: If key, address or port is unavailable.
            MissingDependency: If a package is missing.
        """
        self.close()
        self._stop.clear()
        self._senders.clear()
        self._peers.clear()
        self._asks.clear()
        try:
            self._secret = read_secret(self.config.key, "observers.sight.key")
            self._address = find_place(self.config.listen).address
        except ConfigError as err:
            raise DeviceError(str(err)) from err
        except WebError as err:
            raise DeviceError(f"observers.sight.{err}") from err
        self._challenger = Challenger(self._secret)
        try:
            listening = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self._socket = listening
            listening.setblocking(False)
            listening.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, _BACKGROUND)
            listening.bind((self._address, self.config.udp_port))
        except OSError as err:
            self.close()
            raise DeviceError(
                f"observers.sight.udp_port: expected {self.config.udp_port} to be "
                f"free at {self._address}, got {err.strerror or err}; choose another "
                "on both hosts"
            ) from err
        if self.config.video:
            self._open_video()
        self._thread = threading.Thread(target=self._run, name="sight", daemon=True)
        self._thread.start()

    def observe(self, view: SessionView) -> None:
        """Do nothing: only cameras are sent."""

    def show(
        self, frames: Mapping[str, Frame], cameras: Mapping[str, CameraInfo]
    ) -> None:
        """Keep the newest images."""
        for name, frame in frames.items():
            if self._video is not None:
                self._video.show(name, cameras[name], frame)
            number = sorted(cameras).index(name)
            if cameras[name].depth_unit > 0.0:
                self._newest[name, "clouds"] = (number, cameras[name], frame)
            if cameras[name].encoding not in EXACT:
                self._newest[name, "colour"] = (number, cameras[name], frame)

    def take_warnings(self) -> Sequence[str]:
        """Return why nothing is sent, once."""
        told, self._told = self._told, []
        return told

    def close(self) -> None:
        """Stop."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(_CLOSING)
            self._thread = None
        if self._video is not None:
            self._video.close()
            self._video = None
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _open_video(self) -> None:
        try:
            # loaded here: whoever sends clouds alone needs no aiortc
            from paprle.hardware.media.video import VideoPage  # noqa: PLC0415
        except ImportError as err:
            self.close()
            raise MissingDependency(
                "observers.sight: expected aiortc, got none: pip install "
                "'paprle[sight]', or observers.sight.video=false"
            ) from err
        video = VideoPage(self.config, self.clock)
        try:
            video.open()
        except WebError as err:
            self.close()
            raise DeviceError(f"observers.sight: {err}") from err
        self._video = video

    def _run(self) -> None:
        with contextlib.suppress(OSError):  # a machine may forbid it
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
        try:
            # loaded here: OpenCV takes a moment, which no start waits for
            importlib.import_module("paprle.hardware.media.colour")
        except ImportError:
            self._told.append("observers.sight: no OpenCV: pip install 'paprle[sight]'")
            return
        while not self._stop.wait(_NAP):
            shown = list(self._newest)  # once: a camera may join meanwhile
            for flow in shown:
                if flow not in self._senders:
                    self._senders[flow] = self._make_sender(flow)
            self._hear()
            self._pass_asks()
            for flow in shown:
                self._offer(flow)
            self._send()

    def _make_sender(self, flow: _Flow) -> Any:
        from paprle.hardware.media.colour import ColourSender  # noqa: PLC0415
        from paprle.hardware.media.rate import RateEstimator  # noqa: PLC0415
        from paprle.hardware.media.sender import ImageSource, Sender  # noqa: PLC0415

        number, info, _ = self._newest[flow]
        poses = self.config.poses * _MBIT
        rate = RateEstimator(_FIRST + poses, self.config.most * _MBIT)
        if flow[1] == "colour":
            return ColourSender(self._secret, number, info, rate, poses)
        source = ImageSource(number, info.depth_unit, 1.0 / info.fps)
        return Sender(self._secret, source, rate, poses)

    def _offer(self, flow: _Flow) -> None:
        _, info, frame = self._newest.pop(flow)
        if flow[1] == "colour":
            self._senders[flow].offer(frame.stamp_ns, frame.data)
            return
        data = frame.depth or frame.data
        depth = np.frombuffer(data, "<u2").reshape(info.height, info.width)
        self._senders[flow].offer(frame.stamp_ns, depth)

    def _hear(self) -> None:
        for _ in range(_MOST):
            if self._socket is None:
                return
            try:
                data, address = self._socket.recvfrom(_LARGEST)
            except BlockingIOError:
                return
            except OSError:  # word of a datagram that found nobody
                continue
            ask, answer = self._challenger.hear(data, address, time.monotonic())
            if answer is not None:
                self._post(answer, address)
            if ask is None:
                continue
            self._asks[ask.camera] = ask, address

    def _pass_asks(self) -> None:
        for flow, sender in self._senders.items():
            if sender.number in self._asks:
                ask, self._peers[flow] = self._asks.pop(sender.number)
                sender.hear(ask, time.monotonic())

    def _send(self) -> None:
        now_ns = time.monotonic_ns()
        for flow, sender in self._senders.items():
            for data in sender.step(now_ns * 1e-9, now_ns):
                self._post(data, self._peers[flow])

    def _post(self, data: bytes, address: tuple[Any, ...]) -> None:
        with contextlib.suppress(OSError):  # no room: as if it were lost
            if self._socket is not None:
                self._socket.sendto(data, address)
