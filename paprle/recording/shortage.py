"""Causes that kept a robot from its leader."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

SHORT_POS = 2e-3  # [m] chosen: what a person sees beside a finger
SHORT_ROT = 0.035  # [rad] chosen: two degrees


class Shortage(NamedTuple):
    """Cause that kept a robot from its leader, [s], [m], [rad]; 0: unknown."""

    cause: str
    seconds: float
    farthest: float
    turned: float

    @property
    def worst(self) -> str:
        """Largest distance, else angle, as text."""
        return describe_distance(self.farthest, self.turned)

    def __str__(self) -> str:
        worst = f" (up to {self.worst})" if self.worst else ""
        return f"{self.cause} {self.seconds:.1f} s{worst}"


def describe_distance(pos: float, rot: float) -> str:
    """Return a distance [m], else an angle [rad], as text."""
    if pos >= SHORT_POS:
        return f"{pos * 1e2:.0f} cm" if pos >= 0.1 else f"{pos * 1e3:.0f} mm"
    return f"{np.degrees(rot):.0f}°" if rot >= SHORT_ROT else ""


def list_shortages(manifest: Mapping[str, Any]) -> Iterator[Shortage]:
    """Yield the valid shortages of a manifest."""
    given = manifest.get("short", ())
    for one in given if isinstance(given, list) else ():
        found = _read(one)
        if found is not None:
            yield found


def list_stands(manifest: Mapping[str, Any]) -> list[str]:
    """Return limbs that stood against requests, as text."""
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
