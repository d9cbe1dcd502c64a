"""A motion JPEG camera over HTTP, with faults."""

from __future__ import annotations

import contextlib
import threading
import time
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from paprle_emulators.camera.clock_picture import draw_clock

_BOUNDARY = "paprleframe"
_QUALITY = 90  # chosen: as such cameras have it
_NOISE = 12  # chosen: grey levels, as in a room


@dataclass
class CameraFaults:
    """Faults, changeable at any time."""

    is_frozen: bool = False
    is_stalled: bool = False
    is_gone: bool = False
    is_broken: bool = False
    period_scale: float = 1.0
    size: tuple[int, int] | None = None


class HttpCamera:
    """The camera; a context manager."""

    def __init__(
        self, width: int = 640, height: int = 480, fps: float = 30.0, port: int = 0
    ) -> None:
        self.faults = CameraFaults()
        self.n_sent = 0
        self._size, self._fps = (width, height), fps
        self._must_end = threading.Event()
        self._noise = np.random.default_rng(0)
        camera = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                with contextlib.suppress(OSError):  # the viewer left
                    camera.serve(self)

            def log_message(self, *args: Any) -> None:
                """Log nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever,
            kwargs={"poll_interval": 0.05},
            daemon=True,
        )
        self._thread.start()

    def __enter__(self) -> HttpCamera:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def url(self) -> str:
        """Address of the stream."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/stream.mjpg"

    def close(self) -> None:
        """Stop; may be called twice."""
        self._must_end.set()
        self._server.shutdown()
        self._server.server_close()

    def serve(self, request: BaseHTTPRequestHandler) -> None:
        """Send pictures until the viewer leaves."""
        if self.faults.is_gone:
            request.send_error(503)
            return
        request.send_response(200)
        kind = f"multipart/x-mixed-replace; boundary={_BOUNDARY}"
        request.send_header("Content-Type", kind)
        request.end_headers()
        due, last = time.monotonic(), b""
        while not self._must_end.is_set() and not self.faults.is_gone:
            if self.faults.is_stalled:
                self._must_end.wait(0.01)
                continue
            last = last if self.faults.is_frozen and last else self.draw()
            self._send(request, last)
            self.n_sent += 1
            period = self.faults.period_scale / self._fps
            due = max(due + period, time.monotonic())  # what it missed is not made up
            self._must_end.wait(max(0.0, due - time.monotonic()))

    def draw(self) -> bytes:
        """Return a JPEG of a clock."""
        if self.faults.is_broken:
            return b"\xff\xd8\xff\xe0 this is no picture \xff\xd9"
        width, height = self.faults.size or self._size
        image = self._make_wall(width, height)
        draw_clock(image, time.monotonic_ns())
        _, coded = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, _QUALITY])
        return bytes(coded)

    def _make_wall(self, width: int, height: int) -> npt.NDArray[np.uint8]:
        image = np.full((height, width, 3), 110, np.uint8)
        strip = image[height // 2 : height // 2 + 32]  # noise enough to tell two apart
        strip += self._noise.integers(0, _NOISE, strip.shape, dtype=np.uint8)
        return image

    @staticmethod
    def _send(request: BaseHTTPRequestHandler, picture: bytes) -> None:
        head = (
            f"--{_BOUNDARY}\r\nContent-Type: image/jpeg\r\n"
            f"Content-Length: {len(picture)}\r\n\r\n"
        )
        request.wfile.write(head.encode() + picture + b"\r\n")
        request.wfile.flush()
