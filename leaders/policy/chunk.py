"""Actions that follow each other at an even rate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from paprle.contracts.types import LimbCommand, Vec

_ROUNDING = 1e-3  # chosen: of a period; a row is due though the clock says 0.9999


@dataclass(frozen=True, slots=True)
class Chunk:
    """Answer of a policy to its observation at one instant.

    Attributes:
        stamp_ns: That instant, for which the first row is meant, [ns].
        rows: Actions, shape (k, n).
        fps: Rows a second.
    """

    stamp_ns: int
    rows: Vec
    fps: float

    def count(self, now_ns: int) -> int:
        """Return how many rows are over."""
        return int((now_ns - self.stamp_ns) * 1e-9 * self.fps + _ROUNDING)

    def find(self, now_ns: int, patience: float) -> Vec | None:
        """Return the row in force; None where the last one was for too long.

        Args:
            now_ns: Monotonic time, [ns].
            patience: How long the last row may stand in for the next chunk, [s].
        """
        k = self.count(now_ns)
        late = (now_ns - self.stamp_ns) * 1e-9 - len(self.rows) / self.fps
        if late > patience:
            return None
        row: Vec = self.rows[min(k, len(self.rows) - 1)]
        return row

    def list_poses(
        self, decode: Callable[[Vec], Mapping[str, LimbCommand]], most: int
    ) -> dict[str, Vec]:
        """Return the poses that it leads through, by limb.

        Args:
            decode: Returns what a row, shape (n,), asks of each limb.
            most: At most so many rows, the first ones.

        Returns:
            Times from the first row on [s], and poses as in ``LeaderInfo.path``, shape
            (k, 8); limbs that are asked for joints are left out.
        """
        found: dict[str, list[Vec]] = {}
        for k, row in enumerate(self.rows[:most]):
            for limb, command in decode(row).items():
                T = command.T_leader_base_leader_eef
                if T is not None:
                    pose = np.array([k / self.fps, *pin.SE3ToXYZQUAT(T)])
                    found.setdefault(limb, []).append(pose)
        return {limb: np.array(rows) for limb, rows in found.items()}
