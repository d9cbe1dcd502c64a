"""Camera searched for the board in a thread."""

from __future__ import annotations

import threading
import time
from typing import NamedTuple

from paprle.contracts.errors import DeviceError, PaprleError
from paprle.contracts.images import Frame
from paprle.contracts.plugins import Camera
from paprle_lab.calibration.board import (
    BoardFinder,
    FoundBoard,
    Grey,
    average_boards,
    to_grey,
)

IMAGES = 4
"""Of a view, so that their noise is halved."""

_WAIT = 0.1  # [s] chosen: how soon the thread sees that it shall end
_DRAIN = 0.2  # [s] chosen: images that waited in a driver come in that time
_LONGEST = 0.5  # [s] chosen: a camera of few images has one of them by then
_JOIN = 3.0  # [s] chosen: a driver that hangs longer is left behind


class SearchedImage(NamedTuple):
    """Searched images of a view; the last is kept.

    Attributes:
        stamp_ns: First exposure.
        found: Mean of the corners.
    """

    stamp_ns: int
    picture: Grey
    found: FoundBoard | None


class Eye:
    """Newest searched images of an open camera.

    It searches on request only, as a search holds up the gate of a moving robot.
    """

    def __init__(self, camera: Camera, finder: BoardFinder) -> None:
        self._camera, self._finder = camera, finder
        self._newest: SearchedImage | None = None
        self._fault, self._since_ns = "", 0
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
        """Return the newest images if exposed later; else None.

        Raises:
            DeviceError: If the camera has failed.
        """
        if self._fault:
            raise DeviceError(f"calibrate camera: {self._fault}")
        newest = self._newest
        if newest is None or newest.stamp_ns <= stamp_ns:
            self._since_ns = stamp_ns
            self._asked.set()
            return None
        self._asked.clear()
        return newest

    def _run(self) -> None:
        info = self._camera.info
        try:
            began, images = 0.0, list[SearchedImage]()
            while not self._end.is_set():
                if not self._asked.is_set():
                    self._asked.wait(_WAIT)
                    began, images = time.monotonic(), []
                    continue
                frame: Frame | None = self._camera.grab(_WAIT)
                if frame is None or time.monotonic() - began < _DRAIN:
                    continue
                if fault := info.find_fault(frame):
                    raise DeviceError(fault)
                if frame.stamp_ns <= self._since_ns:
                    continue
                picture = to_grey(frame.data, info)
                found = self._finder.find(picture)
                images.append(SearchedImage(frame.stamp_ns, picture, found))
                if len(images) == IMAGES or time.monotonic() - began > _LONGEST:
                    self._newest, images = _average(images), []
        except PaprleError as err:
            self._fault = str(err)
        except Exception as err:  # noqa: BLE001 - a driver may raise anything
            self._fault = f"{type(err).__name__}: {err}"


def _average(images: list[SearchedImage]) -> SearchedImage:
    found = average_boards([one.found for one in images])
    return SearchedImage(images[0].stamp_ns, images[-1].picture, found)
