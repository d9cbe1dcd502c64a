"""The camera of recorded pictures."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from paprle.cameras.file.config import FileConfig
from paprle.contracts.errors import DeviceError, RecordingError
from paprle.contracts.images import EXACT
from paprle.contracts.plugins import Camera, CameraInfo, Clock, Frame
from paprle.recording.video.pictures import Footage, RecordedPicture

_NAP = 0.001  # [s] chosen: how often the clock is looked at while waiting
_LATE_NS = 100_000_000  # [ns] chosen: who is later leaves pictures out


class FileCamera(Camera):
    """Pictures as RGB or depth, in a loop."""

    config: FileConfig

    def __init__(self, config: FileConfig, clock: Clock) -> None:
        super().__init__(config, clock)
        self._footage: Footage | None = None
        self._name = ""
        self._pictures: Iterator[RecordedPicture] | None = None
        self._next: RecordedPicture | None = None
        self._shift_ns = 0

    @property
    def info(self) -> CameraInfo:
        """The recorded description, decoded.

        Raises:
            DeviceError: If episode or camera is missing.
        """
        footage, name = self._read()
        recorded = footage.cameras[name]
        if recorded.encoding in EXACT:
            return recorded
        return replace(recorded, encoding="rgb8", depth_unit=0.0)

    def open(self) -> None:
        """Begin with the first picture."""
        self._read()
        self._begin()

    def grab(self, timeout: float) -> Frame | None:
        """Return the next picture when due; DeviceError at the episode's end."""
        if self._pictures is None:
            raise DeviceError("camera 'file': expected an open camera; call open()")
        if self._next is None:
            raise DeviceError(f"camera 'file': '{self.config.path}' is over")
        end = time.monotonic() + timeout
        while self.clock() < self._next.stamp_ns + self._shift_ns:
            if time.monotonic() >= end:
                return None
            time.sleep(_NAP)  # noqa: TID251 - a camera may block
        stamp_ns, image = self._next.stamp_ns + self._shift_ns, self._next.image
        late_ns = self.clock() - stamp_ns
        if late_ns > _LATE_NS:
            self._shift_ns += late_ns
            stamp_ns += late_ns
        self._advance()
        return None if image is None else Frame(stamp_ns, image.tobytes())

    def close(self) -> None:
        """Close the file."""
        self._pictures = self._next = None

    def _read(self) -> tuple[Footage, str]:
        if self._footage is None:
            try:
                footage = Footage(Path(self.config.path))
            except RecordingError as err:
                raise DeviceError(f"camera 'file': {err}") from err
            names = list(footage.cameras)
            name = self.config.camera or (names[0] if len(names) == 1 else "")
            if name not in names:
                listed = ", ".join(names) or "none"
                raise DeviceError(
                    f"camera 'file': expected one of the cameras of "
                    f"'{self.config.path}' ({listed}), got '{name}'; set camera"
                )
            self._footage, self._name = footage, name
        return self._footage, self._name

    def _begin(self) -> None:
        footage, name = self._read()
        self._pictures = footage.read(name)
        try:
            self._next = next(self._pictures)
        except (StopIteration, RecordingError) as err:
            self.close()
            raise DeviceError(
                f"camera 'file': expected pictures of '{name}' in "
                f"'{self.config.path}', got {err or 'none'}"
            ) from err
        self._shift_ns = self.clock() - self._next.stamp_ns

    def _advance(self) -> None:
        if self._pictures is None:
            return
        last_ns, period_ns = self._shift_ns, round(1e9 / self.info.fps)
        before = self._next
        self._next = next(self._pictures, None)
        if self._next is None and self.config.loop and before is not None:
            self._begin()
            end_ns = before.stamp_ns + last_ns + period_ns
            if self._next is not None:
                self._shift_ns = end_ns - self._next.stamp_ns
