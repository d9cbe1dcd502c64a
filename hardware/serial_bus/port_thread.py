"""Thread that owns and reopens a port."""

from __future__ import annotations

import logging
import threading
import time
from abc import ABC, abstractmethod

from paprle.hardware.serial_bus.errors import BusError

_LOG = logging.getLogger(__name__)
_LATE = 0.1  # spec: style.md 4.10: later than this share of a period, start anew
_REOPEN = 0.5  # [s] chosen: an adapter takes about a second to come back
JOIN = 5.0
"""Longest wait for a thread's end, [s]. chosen: a ramp, and a bus without
answers."""


class PortThread(ABC):
    """Thread of one port, for subclasses."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @abstractmethod
    def _serve(self) -> None:
        """Use the open port until ``_stop``; raise BusError on a loss."""

    @abstractmethod
    def _lose(self, err: BusError) -> None:
        """Close a lost port."""

    @abstractmethod
    def _open_again(self) -> None:
        """Open again; raise BusError on failure."""

    @abstractmethod
    def _give_up(self) -> None:
        """Close an unopened port."""

    @abstractmethod
    def _finish(self) -> None:
        """Close the port at the thread's end."""

    def _start(self) -> None:
        self._stop.clear()
        self._thread = threading.Thread(target=self._run, name=self._name)
        self._thread.start()

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                try:
                    self._serve()
                except BusError as err:
                    _LOG.warning("%s", err)
                    self._lose(err)
                    self._reopen()
        finally:
            self._finish()

    def _reopen(self) -> None:
        while not self._stop.wait(_REOPEN):
            try:
                self._open_again()
            except BusError as err:
                _LOG.debug("%s", err)
                self._give_up()
            else:
                return


def keep_deadline(deadline: float, period: float) -> float:
    """Return the deadline, or now if missed, [s]."""
    now = time.monotonic()
    return deadline if now - deadline <= _LATE * period else now
