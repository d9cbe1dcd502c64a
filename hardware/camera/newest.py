"""Newest value of a blocking source."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")

_END = 1.0  # [s] chosen: a driver that hangs is left behind after this


class NewestOf(Generic[T]):
    """Reader of a blocking source in its own thread."""

    def __init__(self, read: Callable[[], T | None], name: str) -> None:
        """Begin; ``read`` may block or raise, and returns None at the end."""
        self._read = read
        self._there = threading.Condition()
        self._value: T | None = None
        self._must_end = False
        self._is_over = False
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def pop(self, timeout: float) -> T | None:
        """Return the newest unread value; None after ``timeout``, [s].

        Raises:
            EOFError: At the end; its cause is the source's failure.
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
        """Return whether the thread ended."""
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
