"""User code for each frame of AdaptiX (X27)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from paprle.recording.others.adaptix import AdaptixFrame


class FrameCalls:
    """Calls a function once per due frame, in order."""

    def __init__(
        self, frames: Sequence[AdaptixFrame], begin: float, call: Callable[..., Any]
    ) -> None:
        self._frames, self._begin, self._call = frames, begin, call
        self._n_told, self._last = 0, 0.0

    def play_to(self, t: float, *, is_over: bool) -> None:
        """Call the function for due frames; an earlier t restarts."""
        if t < self._last:
            self._n_told = 0
        self._last = t
        while self._n_told < len(self._frames):
            frame = self._frames[self._n_told]
            if frame.t - self._begin > t and not is_over:
                return
            self._n_told += 1
            self._call(frame)
