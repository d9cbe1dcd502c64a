"""Which cells of a table run with every change; the others run nightly."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def spread(cells: Iterable[Any], *quick: Any) -> list[Any]:
    """Return the cells for ``parametrize``, all but some marked nightly.

    Raises:
        ValueError: If a quick one is none of the cells.
    """
    cells = list(cells)
    unknown = [cell for cell in quick if cell not in cells]
    if unknown:
        raise ValueError(f"quick: expected some of {cells}, got {unknown}")
    return [cell if cell in quick else _mark(cell) for cell in cells]


def _mark(cell: Any) -> Any:
    values = cell if isinstance(cell, tuple) else (cell,)
    return pytest.param(*values, marks=pytest.mark.nightly)
