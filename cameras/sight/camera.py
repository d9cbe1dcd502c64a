"""The camera of requested clouds."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from paprle.cameras.sight.config import SightCameraConfig
from paprle.contracts.errors import ConfigError, DeviceError, MissingDependency
from paprle.contracts.kit.secret import read_secret
from paprle.contracts.plugins import Camera, CameraInfo, Clock, Frame


class SightCamera(Camera):
    """Depth of received points; 0: unknown."""

    config: SightCameraConfig

    def __init__(self, config: SightCameraConfig, clock: Clock) -> None:
        super().__init__(config, clock)
        self._caller: Any = None
        self._receiver: Any = None

    @property
    def info(self) -> CameraInfo:
        """Configured description; other sizes are refused."""
        c = self.config
        return c.make_info(c.width, c.height, "depth16", depth_unit=c.unit)

    @property
    def closing_notes(self) -> Sequence[str]:
        """Counts of datagrams and pictures."""
        counts = {} if self._receiver is None else dict(self._receiver.counts)
        told = [f"{what} {n}" for what, n in counts.items() if n]
        return [f"clouds: {', '.join(told)}"] if told else []

    def open(self) -> None:
        """Find the host, and start requests; MissingDependency without OpenCV."""
        try:
            from paprle.hardware.media.caller import Caller  # noqa: PLC0415
            from paprle.hardware.media.receiver import Receiver  # noqa: PLC0415
        except ImportError as err:
            raise MissingDependency(
                "camera 'sight': expected OpenCV, got none: pip install 'paprle[sight]'"
            ) from err
        self.close()
        c = self.config
        try:
            secret = read_secret(c.key, "cameras.*.key")
            self._receiver = Receiver(secret, c.number, (c.height, c.width))
            self._caller = Caller(c.host, c.udp_port, self._receiver, self.clock)
        except ConfigError as err:
            raise DeviceError(f"camera 'sight': {err}") from err
        except OSError as err:
            raise DeviceError(
                f"camera 'sight': expected a host '{c.host}', got {err.strerror or err}"
            ) from err

    def grab(self, timeout: float) -> Frame | None:
        """Return the next picture, possibly partial."""
        if self._caller is None:
            raise DeviceError("camera 'sight': expected an open camera; call open()")
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            picture = self._caller.step()
            if picture is not None:
                stamp_ns = min(picture.stamp_ns, self.clock())
                return Frame(stamp_ns, picture.depth.astype("<u2").tobytes())
        return None

    def close(self) -> None:
        """Stop requests."""
        if self._caller is not None:
            self._caller.close()
        self._caller = None
