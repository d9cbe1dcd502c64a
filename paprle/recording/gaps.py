"""Gaps of a recovered recording."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple


class Gap(NamedTuple):
    """Stretch without ticks, in [s] after the first."""

    at: float
    seconds: float

    def __str__(self) -> str:
        return f"{self.seconds:.3f} s at {self.at:.3f} s"


def list_gaps(manifest: Mapping[str, Any]) -> Iterator[Gap]:
    """Yield the valid gaps of a manifest."""
    given = manifest.get("gaps", ())
    for one in given if isinstance(given, list) else ():
        match one:
            case {"at": int() | float() as at, "seconds": int() | float() as seconds}:
                if math.isfinite(at) and math.isfinite(seconds):
                    yield Gap(at, seconds)
