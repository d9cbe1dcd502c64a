"""Camera searched for the board in a thread."""

from __future__ import annotations

import threading
import time
from typing import NamedTuple

from paprle.contracts.errors import DeviceError, PaprleError
from paprle.contracts.images import Frame
from paprle.contracts.plugins import Camera
from paprle_lab.calibration.board import BoardFinder, FoundBoard, Grey, to_grey

_WAIT = 0.1  # [s] chosen: how soon the thread sees that it shall end
_DRAIN = 0.2  # [s] chosen: images that waited in a driver come in that time
_JOIN = 3.0  # [s] chosen: a driver that hangs longer is left behind


class SearchedImage(NamedTuple):
    """A searched image; ``stamp_ns`` is its exposure."""

    stamp_ns: int
    picture: Grey
    found: FoundBoard | None


class Eye:
    """Newest searched image of an open camera.

    It searches on request only, as a search holds up the gate of a moving robot.
    """

    def __init__(self, camera: Camera, finder: BoardFinder) -> None:
        self._camera, self._finder = camera, finder
        self._newest: SearchedImage | None = None
        self._fault = ""
        self._end, self._asked = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="calibration eye")

    def __enter__(self) -> Eye:
        self._camera.open()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join(_JOIN)
        self._camera.close()

    def find_after(self, stamp_ns: int) -> SearchedImage | None:
        """Return the newest image if exposed later; else None.

        Raises:
            DeviceError: If the camera has failed.
        """
        if self._fault:
            raise DeviceError(f"calibrate camera: {self._fault}")
        newest = self._newest
        if newest is None or newest.stamp_ns <= stamp_ns:
            self._asked.set()
            return None
        self._asked.clear()
        return newest

    def _run(self) -> None:
        info = self._camera.info
        try:
            began = 0.0
            while not self._end.is_set():
                if not self._asked.is_set():
                    self._asked.wait(_WAIT)
                    began = time.monotonic()
                    continue
                frame: Frame | None = self._camera.grab(_WAIT)
                if frame is None or time.monotonic() - began < _DRAIN:
                    continue
                if fault := info.find_fault(frame):
                    raise DeviceError(fault)
                picture = to_grey(frame.data, info)
                found = self._finder.find(picture)
                self._newest = SearchedImage(frame.stamp_ns, picture, found)
        except PaprleError as err:
            self._fault = str(err)
        except Exception as err:  # noqa: BLE001 - a driver may raise anything
            self._fault = f"{type(err).__name__}: {err}"
