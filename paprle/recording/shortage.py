"""Causes that kept a robot from its leader: manifest entry and text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

SHORT_POS = 2e-3  # [m] chosen: what a person sees beside a finger
SHORT_ROT = 0.035  # [rad] chosen: two degrees


class Shortage(NamedTuple):
    """One cause that kept a robot from where its leader was.

    Attributes:
        cause: In words: ``joint4 at its limit``.
        seconds: For how long.
        farthest: Distance at most, [m]; 0 where none is known.
        turned: Angle at most, [rad]; likewise.
    """

    cause: str
    seconds: float
    farthest: float
    turned: float

    @property
    def worst(self) -> str:
        """The largest distance, else the largest angle, as text; empty: not known."""
        return describe_distance(self.farthest, self.turned)

    def __str__(self) -> str:
        """Return it as text: ``out of reach 1.2 s (up to 31 cm)``."""
        worst = f" (up to {self.worst})" if self.worst else ""
        return f"{self.cause} {self.seconds:.1f} s{worst}"


def describe_distance(pos: float, rot: float) -> str:
    """Return a distance or else an angle as a person reads it; empty: neither."""
    if pos >= SHORT_POS:
        return f"{pos * 1e2:.0f} cm" if pos >= 0.1 else f"{pos * 1e3:.0f} mm"
    return f"{np.degrees(rot):.0f}°" if rot >= SHORT_ROT else ""


def list_shortages(manifest: Mapping[str, Any]) -> Iterator[Shortage]:
    """Yield what stands in ``short``; of another's manifest only what can be read."""
    given = manifest.get("short", ())
    for one in given if isinstance(given, list) else ():
        found = _read(one)
        if found is not None:
            yield found


def list_stands(manifest: Mapping[str, Any]) -> list[str]:
    """Return which limbs stood while asked to move, with cause and time, in words."""
    given = manifest.get("stood")
    return [
        f"{what} {seconds:.1f} s"
        for what, seconds in (given.items() if isinstance(given, dict) else ())
        if isinstance(seconds, int | float) and math.isfinite(seconds)
    ]


def _read(one: Any) -> Shortage | None:
    if not isinstance(one, dict) or not isinstance(one.get("cause"), str):
        return None
    numbers = [one.get(key) for key in ("seconds", "farthest", "turned")]
    seconds, farthest, turned = (
        float(x) if isinstance(x, int | float) else math.nan for x in numbers
    )
    if not all(map(math.isfinite, (seconds, farthest, turned))):
        return None
    return Shortage(one["cause"], seconds, farthest, turned)
