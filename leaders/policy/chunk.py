"""Actions at an even rate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from paprle.contracts.types import LimbCommand, Vec

_ROUNDING = 1e-3  # chosen: of a period; a row is due though the clock says 0.9999


@dataclass(frozen=True, slots=True)
class Chunk:
    """A policy's answer to one observation.

    Attributes:
        stamp_ns: Of observation and first row, [ns].
        rows: Actions, (k, n).
        fps: [Hz].
    """

    stamp_ns: int
    rows: Vec
    fps: float

    def count(self, now_ns: int) -> int:
        """Return the number of past rows."""
        return int((now_ns - self.stamp_ns) * 1e-9 * self.fps + _ROUNDING)

    def find(self, now_ns: int, patience: float) -> Vec | None:
        """Return the current row; None ``patience`` [s] after the last."""
        k = self.count(now_ns)
        late = (now_ns - self.stamp_ns) * 1e-9 - len(self.rows) / self.fps
        if late > patience:
            return None
        row: Vec = self.rows[min(k, len(self.rows) - 1)]
        return row

    def list_poses(
        self, decode: Callable[[Vec], Mapping[str, LimbCommand]], most: int
    ) -> dict[str, Vec]:
        """Return times [s] and poses of the first rows by limb, (k, 8)."""
        found: dict[str, list[Vec]] = {}
        for k, row in enumerate(self.rows[:most]):
            for limb, command in decode(row).items():
                T = command.T_leader_base_leader_eef
                if T is not None:
                    pose = np.array([k / self.fps, *pin.SE3ToXYZQUAT(T)])
                    found.setdefault(limb, []).append(pose)
        return {limb: np.array(rows) for limb, rows in found.items()}
