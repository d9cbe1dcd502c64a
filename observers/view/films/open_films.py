"""The films that are open: few, each used by one request at a time."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as StillReading
from contextlib import contextmanager
from functools import partial

from paprle.contracts.film import Film, RecordingList

_MOST = 2  # chosen: the film that is seen, and the one before it
_PATIENCE = 1.0  # [s] chosen: a browser hears within it how far a film is read


class _Opening:
    """A film that is read, or was."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.share = 0.0
        self.film: Future[Film] = Future()

    def tell(self, share: float) -> None:
        self.share = share


class OpenFilms:
    """Opens films of a list in a thread and closes those not used lately."""

    def __init__(self, listed: RecordingList) -> None:
        self._listed = listed
        self._lock = threading.Lock()
        self._films: OrderedDict[int, _Opening] = OrderedDict()
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="film")

    def ask(self, k: int) -> float | None:
        """Begin to open film k.

        Returns:
            The share read so far, 0 … 1; None: it is open.

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
        """Open film k and yield it for one thread.

        Raises:
            PaprleError: If it cannot be read.
        """
        opening = self._begin(k)
        film = opening.film.result()
        with opening.lock:
            yield film

    def close(self) -> None:
        """Close all of them."""
        self._reader.shutdown(cancel_futures=True)
        with self._lock:
            while self._films:
                _close(self._films.popitem()[1])

    def _begin(self, k: int) -> _Opening:
        with self._lock:
            if k in self._films:
                self._films.move_to_end(k)
                return self._films[k]
            opening = self._films[k] = _Opening()
            opening.film = self._reader.submit(self._listed.open, k, opening.tell)
            while len(self._films) > _MOST:
                old = self._films.popitem(last=False)[1]
                old.film.cancel()
                old.film.add_done_callback(partial(_close, old))
            return opening


def _close(opening: _Opening, _: object = None) -> None:
    film = opening.film
    if not film.cancelled() and film.done() and film.exception() is None:
        with opening.lock:
            film.result().close()
