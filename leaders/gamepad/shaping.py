"""Dead zones, curves and signs of controls; pure."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from paprle.hardware.gamepad.controls import CONTROLS, STICKS, TRIGGERS

Terms = tuple[tuple[str, float], ...]
"""Controls and their signs."""

_TERM = re.compile(r"\s*([+-]?)\s*([a-z]+\d?)")


def parse_terms(text: str) -> Terms | None:
    """Return the controls of ``-lefty`` or ``dpup-dpdown``, or None."""
    terms: list[tuple[str, float]] = []
    end = 0
    while end < len(text):
        match = _TERM.match(text, end)
        if match is None or match[2] not in CONTROLS or (terms and not match[1]):
            return None
        terms.append((match[2], -1.0 if match[1] == "-" else 1.0))
        end = match.end()
    return tuple(terms) or None


def shape_controls(
    raw: Mapping[str, float], dead_zone: float, trigger_dead_zone: float, curve: float
) -> dict[str, float]:
    """Return controls with round dead zones and a curve; NaN is rest.

    Sticks are in [-1, 1], triggers and buttons in [0, 1]; ``curve`` is an exponent.
    """
    shaped = {name: _clip(value) for name, value in raw.items()}
    for x, y in STICKS:
        size = math.hypot(shaped[x], shaped[y])
        gain = _shape(size, dead_zone, curve) / size if size > 0.0 else 0.0
        shaped[x], shaped[y] = gain * shaped[x], gain * shaped[y]
    for name in TRIGGERS:
        shaped[name] = _shape(max(shaped[name], 0.0), trigger_dead_zone, curve)
    return shaped


def deflect(shaped: Mapping[str, float], terms: Terms) -> float:
    """Return one axis' deflection, in [-1, 1]."""
    return _clip(sum(sign * shaped[name] for name, sign in terms))


def _shape(size: float, dead_zone: float, curve: float) -> float:
    share = (min(size, 1.0) - dead_zone) / (1.0 - dead_zone)
    return float(max(share, 0.0) ** curve)


def _clip(value: float) -> float:
    return 0.0 if math.isnan(value) else min(max(value, -1.0), 1.0)
