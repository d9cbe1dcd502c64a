"""Stretches of missing ticks in a recovered recording: manifest entry and text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple


class Gap(NamedTuple):
    """A stretch of a recording of which session or gate ticks are missing.

    Attributes:
        at: When it begins, after the first tick of the recording, [s].
        seconds: How long it lasts, [s].
    """

    at: float
    seconds: float

    def __str__(self) -> str:
        """Return duration and begin as text: ``1.020 s at 9.660 s``."""
        return f"{self.seconds:.3f} s at {self.at:.3f} s"


def list_gaps(manifest: Mapping[str, Any]) -> Iterator[Gap]:
    """Yield what stands in ``gaps``; of another's manifest only what can be read."""
    given = manifest.get("gaps", ())
    for one in given if isinstance(given, list) else ():
        match one:
            case {"at": int() | float() as at, "seconds": int() | float() as seconds}:
                if math.isfinite(at) and math.isfinite(seconds):
                    yield Gap(at, seconds)
