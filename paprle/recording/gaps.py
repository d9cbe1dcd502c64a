"""Gaps of a recovered recording."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple


class Gap(NamedTuple):
    """A stretch without session or gate ticks.

    Attributes:
        at: Begin after the first tick, [s].
        seconds: Duration, [s].
    """

    at: float
    seconds: float

    def __str__(self) -> str:
        """Return it as text: ``1.020 s at 9.660 s``."""
        return f"{self.seconds:.3f} s at {self.at:.3f} s"


def list_gaps(manifest: Mapping[str, Any]) -> Iterator[Gap]:
    """Yield the valid entries of ``gaps`` in a manifest."""
    given = manifest.get("gaps", ())
    for one in given if isinstance(given, list) else ():
        match one:
            case {"at": int() | float() as at, "seconds": int() | float() as seconds}:
                if math.isfinite(at) and math.isfinite(seconds):
                    yield Gap(at, seconds)
