"""Scales of a data set's numbers."""

from __future__ import annotations

import math

import numpy as np

from paprle.contracts.types import Vec
from paprle.leaders.dataset.config import ColumnSettings
from paprle.leaders.dataset.table import Table

ANGLES = {"rad": 1.0, "deg": math.pi / 180.0}
LENGTHS = {"m": 1.0, "cm": 1e-2, "mm": 1e-3}


def scale_opening(table: Table, columns: ColumnSettings) -> Vec:
    """Return the gripper's openings before they are clipped, (n,)."""
    raw = table.take((columns.gripper,))[:, 0]
    return np.asarray((raw - columns.closed) / (columns.open - columns.closed))
