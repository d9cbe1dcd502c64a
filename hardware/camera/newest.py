"""A thread that reads a source which blocks, and keeps the newest of what it gave."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")

_END = 1.0  # [s] chosen: a driver that hangs is left behind after this


class NewestOf(Generic[T]):
    """Waits for a source in a thread of its own, so that others wait as they like."""

    def __init__(self, read: Callable[[], T | None], name: str) -> None:
        """Begin to read.

        Args:
            read: Returns the next value; None when there will be none. It may block,
                and may raise.
            name: Of the thread.
        """
        self._read = read
        self._there = threading.Condition()
        self._value: T | None = None
        self._must_end = False
        self._is_over = False
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def pop(self, timeout: float) -> T | None:
        """Return the newest value that was not taken yet; None when none came.

        Args:
            timeout: How long to wait for one, [s].

        Raises:
            EOFError: If there will be none any more; what the source failed of is its
                cause.
        """
        with self._there:
            self._there.wait_for(
                lambda: self._value is not None or self._is_over, timeout
            )
            value, self._value = self._value, None
            if value is None and self._is_over:
                raise EOFError("the source ended") from self._failure
            return value

    def close(self) -> bool:
        """Let the thread end; returns whether it did."""
        self._must_end = True
        self._thread.join(_END)
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            while not self._must_end and (value := self._read()) is not None:
                with self._there:
                    self._value = value
                    self._there.notify()
        except Exception as err:  # noqa: BLE001 - whoever takes fails of it
            self._failure = err
        finally:
            with self._there:
                self._is_over = True
                self._there.notify()
