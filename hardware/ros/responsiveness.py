"""Detection of an arm that ignores commands.

No topic shows refused messages.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Vec = npt.NDArray[np.float64]

_FAR = 0.05  # [rad] chosen: ten times what a drive leaves of a command, half of E
_SHARE = 0.1  # [1] chosen: of the way; an arm under way has gone farther
_N_PERIODS = 50  # chosen: 0.25 s at 200 Hz, several lags of any arm


class AnswerWatch:
    """Comparison of commands and motion."""

    def __init__(self, is_arm: npt.NDArray[np.bool_]) -> None:
        """Watch masked joints, shape (n,)."""
        self._is_arm = is_arm
        self.forget()

    def forget(self) -> None:
        """Reset the comparison."""
        self._q_cmd: Vec | None = None
        self._q_meas = np.zeros(0)
        self.n = 0

    def look(self, q_cmd: Vec, q_meas: Vec) -> int | None:
        """Return the ignoring joint, once certain."""
        begin = self._q_cmd
        if begin is None:
            self._set(q_cmd, q_meas)
            return None
        way = np.where(self._is_arm, q_cmd - begin, 0.0)
        gone = q_meas - self._q_meas
        i = int(np.argmax(np.abs(way)))
        if np.abs(gone)[self._is_arm].max() > max(_SHARE * abs(way[i]), _SHARE * _FAR):
            self._set(q_cmd, q_meas)
            return None
        if abs(way[i]) < _FAR:
            return None
        self.n += 1
        return i if self.n >= _N_PERIODS else None

    def _set(self, q_cmd: Vec, q_meas: Vec) -> None:
        self._q_cmd, self._q_meas, self.n = q_cmd.copy(), q_meas.copy(), 0
