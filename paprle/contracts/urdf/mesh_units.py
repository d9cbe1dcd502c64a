"""Unit of a mesh file: stated in COLLADA, metres elsewhere."""

from __future__ import annotations

import math
import re
from pathlib import Path

_UNIT = re.compile(rb"<unit\b[^>]*?\bmeter\s*=\s*[\"']([^\"']*)[\"']")
_HEAD = 64 << 10  # chosen: [bytes] the element asset stands first


def read_unit(path: Path) -> float:
    """Return one unit of a mesh file, [m].

    Raises:
        OSError: If the file cannot be read.
        ValueError: If the unit is invalid.
    """
    if path.suffix.lower() != ".dae":
        return 1.0
    with path.open("rb") as file:
        stated = _UNIT.search(file.read(_HEAD))
    if stated is None:
        return 1.0
    text = stated[1].decode(errors="replace")
    try:
        unit = float(text)
    except ValueError:
        unit = math.nan
    if not 0.0 < unit < math.inf:
        raise ValueError(f"{path}: unit: expected metres above 0, got {text!r}")
    return unit
