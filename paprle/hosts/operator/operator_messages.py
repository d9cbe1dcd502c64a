"""Session messages and episodes for observers."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping
from typing import Any

import numpy as np

from paprle.ipc.mailbox import Mailbox
from paprle.ipc.records import Record

NEWS = "news"
_N_BYTES = 32_768  # chosen: a hundred episodes
_N_TOLD, _N_EPISODES = 40, 100  # chosen: what a person may want to look back at
NEWS_DTYPE = np.dtype([("text", f"S{_N_BYTES}")])


class News:
    """Writes messages and values to a mailbox."""

    def __init__(self, box: Mailbox) -> None:
        self._box = box
        self._told: deque[tuple[int, str]] = deque(maxlen=_N_TOLD)
        self._n_told = 0
        self._last = b""

    def tell(self, text: str) -> None:
        """Add a line; thread-safe."""
        self._n_told += 1
        self._told.append((self._n_told, text))

    def write(self, values: Mapping[str, Any], episodes: list[dict[str, Any]]) -> None:
        """Write JSON values and episodes, the oldest dropped if too long."""
        told, listed = list(self._told), episodes[-_N_EPISODES:]
        while True:
            all_of_it = {**values, "told": told, "episodes": listed}
            text = json.dumps(all_of_it).encode()
            if len(text) <= _N_BYTES or not (told or listed):
                break
            told, listed = told[len(told) // 2 + 1 :], listed[len(listed) // 2 + 1 :]
        if text != self._last and len(text) <= _N_BYTES:
            self._last = text
            self._box.write(np.array((text,), NEWS_DTYPE))


def read_news(record: Record) -> dict[str, Any]:
    """Return the content of a record."""
    values: dict[str, Any] = json.loads(record["text"].item())
    return values
