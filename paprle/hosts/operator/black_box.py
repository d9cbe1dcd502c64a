"""The last seconds of a failed session."""

from __future__ import annotations

import os
from collections import deque
from datetime import datetime
from pathlib import Path

import numpy as np

from paprle.ipc.records import Record

_N_TICKS = 1000  # chosen: 5 s at 200 Hz


class BlackBox:
    """The newest ticks and gate statuses."""

    def __init__(self, folder: str | None) -> None:
        self._folder = folder
        self._ticks: deque[Record] = deque(maxlen=_N_TICKS)
        self._statuses: deque[Record] = deque(maxlen=_N_TICKS)

    @property
    def is_empty(self) -> bool:
        """Whether no tick was added."""
        return not self._ticks

    def add(self, tick: Record, status: Record) -> None:
        """Add one tick."""
        self._ticks.append(tick.copy())
        self._statuses.append(status)

    def write(self, text: str) -> Path:
        """Write ticks and reason; return the path."""
        cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        folder = Path(self._folder or Path(cache) / "paprle")
        folder.mkdir(parents=True, exist_ok=True)
        stamp = datetime.now().astimezone().strftime("%Y%m%d-%H%M%S")
        arrays = {"why": np.array(text)}
        if self._ticks:
            arrays["ticks"] = np.array(list(self._ticks))
            arrays["statuses"] = np.array(list(self._statuses))
        for name in (f"black_box_{stamp}", f"black_box_{stamp}_{os.getpid()}"):
            path = folder / f"{name}.npz"
            try:  # a new file: what lies there, or a link, is somebody else's
                with path.open("xb") as file:
                    np.savez_compressed(file, allow_pickle=False, **arrays)
            except FileExistsError:
                continue
            return path
        raise FileExistsError(f"{path}: expected no file, got one")
