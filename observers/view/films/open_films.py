"""Open films."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as StillReading
from contextlib import contextmanager

from paprle.contracts.film import Film, RecordingList

_MOST = 2  # chosen: the film that is seen, and the one before it
_PATIENCE = 1.0  # [s] chosen: a browser hears within it how far a film is read


class _Unwanted(Exception):
    """Reading of the film is ended."""


class _Opening:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.share = 0.0
        self.film: Future[Film] = Future()
        self._is_wanted = True

    def tell(self, share: float) -> None:
        if not self._is_wanted:
            raise _Unwanted
        self.share = share

    def drop(self) -> None:
        self._is_wanted = False
        self.film.cancel()
        self.film.add_done_callback(self._close)

    def _close(self, film: Future[Film]) -> None:
        if not film.cancelled() and film.exception() is None:
            with self.lock:
                film.result().close()


class OpenFilms:
    """Opens films in a thread, closes unused ones."""

    def __init__(self, listed: RecordingList) -> None:
        self._listed = listed
        self._lock = threading.Lock()
        self._films: OrderedDict[int, _Opening] = OrderedDict()
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="film")

    def ask(self, k: int) -> float | None:
        """Begin to open film k.

        Returns:
            Share read, 0 … 1; None: open.

        Raises:
            PaprleError: If it cannot be read.
        """
        opening = self._begin(k)
        try:
            opening.film.result(_PATIENCE)
        except StillReading:
            return opening.share
        except Exception:
            with self._lock:
                self._films.pop(k, None)  # asked again, it is read again
            raise
        return None

    @contextmanager
    def use(self, k: int) -> Iterator[Film]:
        """Open film k for one thread.

        Raises:
            PaprleError: If it cannot be read.
        """
        opening = self._begin(k)
        film = opening.film.result()
        with opening.lock:
            yield film

    def close(self) -> None:
        """Close all films."""
        with self._lock:
            for opening in self._films.values():
                opening.drop()
            self._films.clear()
        self._reader.shutdown()

    def _begin(self, k: int) -> _Opening:
        with self._lock:
            if k in self._films:
                self._films.move_to_end(k)
                return self._films[k]
            opening = self._films[k] = _Opening()
            opening.film = self._reader.submit(self._listed.open, k, opening.tell)
            old = None
            if len(self._films) > _MOST:
                old = self._films.popitem(last=False)[1]
        if old is not None:
            old.drop()
        return opening
