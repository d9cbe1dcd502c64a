"""User code called at each frame of a recording of AdaptiX as it is played (X27)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from paprle.recording.others.adaptix import AdaptixFrame


class FrameCalls:
    """Calls something once for each frame of a play, in the order of the file.

    A frame is told once its time has come, whether the row of its motion was played or
    left out; what is left at the end of a play is told then.
    """

    def __init__(
        self, frames: Sequence[AdaptixFrame], begin: float, call: Callable[..., Any]
    ) -> None:
        """Wait for a play.

        Args:
            frames: Of the file.
            begin: Time of the file at which a play begins, [s].
            call: Is given each of them.
        """
        self._frames, self._begin, self._call = frames, begin, call
        self._n_told, self._last = 0, 0.0

    def play_to(self, t: float, *, is_over: bool) -> None:
        """Call the function for each frame that is due.

        Args:
            t: Since the begin of the play, in the file's time, [s]; less than before:
                it is played anew.
            is_over: The play came to its end.
        """
        if t < self._last:
            self._n_told = 0
        self._last = t
        while self._n_told < len(self._frames):
            frame = self._frames[self._n_told]
            if frame.t - self._begin > t and not is_over:
                return
            self._n_told += 1
            self._call(frame)
