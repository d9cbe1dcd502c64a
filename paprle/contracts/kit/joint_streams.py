"""Matching joint names, and contradicting publishers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt

from paprle.contracts.types import Vec

_SEPARATORS = re.compile(r"[/.:\-_]+")
_STEP = 0.02  # [rad] or [m] chosen: less than this between two values is no jump
_SPEED = 3.0  # [rad/s] chosen: a step slower than this is no jump
_LONGEST = 0.6  # [s] chosen: publishers of 2 Hz; a longer pause is one of the stream
_N_RETURNS = 4  # chosen: a motion does not come back to where it was so often
_WINDOW = 2.0  # [s] chosen: returns farther apart are not of two publishers
_TURN = 2.0 * np.pi


class AmbiguousNamesError(ValueError):
    """Several groups of joints match but for a prefix."""


def match_names(
    wanted: Iterable[str], seen: Iterable[str], limb: str = ""
) -> dict[str, str]:
    """Return the seen name of each wanted name; omit missing ones.

    Separators do not count. Where no name is equal, a unique common prefix is dropped,
    that of ``limb`` first.

    Raises:
        AmbiguousNamesError: If several prefixes fit.
    """
    names = {_plain(name): name for name in seen}
    plain = {name: _plain(name) for name in wanted}
    same = {name: names[p] for name, p in plain.items() if p in names}
    if same:
        return same
    groups: dict[str, dict[str, str]] = {}
    for name, p in plain.items():
        for other, came in names.items():
            longer, shorter = (other, p) if len(other) > len(p) else (p, other)
            if longer.endswith(f"_{shorter}"):
                prefix = longer.removesuffix(f"_{shorter}")
                groups.setdefault(prefix, {})[name] = came
    if len(groups) <= 1:
        return next(iter(groups.values()), {})
    if _plain(limb) in groups:
        return groups[_plain(limb)]
    raise AmbiguousNamesError(
        f"joints {', '.join(plain)} of {len(groups)} prefixes: "
        + "; ".join(", ".join(group.values()) for group in groups.values())
    )


class Alternation:
    """Detector of values that alternate between two tracks."""

    def __init__(self) -> None:
        self._last: tuple[float, float] | None = None
        self._before: float | None = None
        self._jump = 0.0
        self._returns: list[float] = []

    def add(self, t: float, value: float) -> bool:
        """Return whether values alternate by ``t`` [s], in [rad] or [m]."""
        if self._last is not None:
            dt, step = t - self._last[0], value - self._last[1]
            if dt > _LONGEST:
                self._before = None
            elif is_jump(np.array([dt]), np.array([step]))[0]:
                self._note(t, value, step)
        self._last = t, value
        return len(self._returns) >= _N_RETURNS

    def _note(self, t: float, value: float, step: float) -> None:
        least = 0.5 * min(abs(step), abs(self._jump))
        if self._before is not None and abs(value - self._before) < least:
            self._returns = [r for r in self._returns if t - r < _WINDOW] + [t]
        self._before, self._jump = (None if self._last is None else self._last[1]), step


def is_jump(dt: Vec, step: Vec) -> npt.NDArray[np.bool_]:
    """Return steps too large for a motion, (n,), save whole turns."""
    least = np.maximum(_STEP, _SPEED * dt)
    off_turn = np.abs(np.abs(step) - _TURN)
    return np.asarray((np.abs(step) > least) & (off_turn > least) & (dt <= _LONGEST))


def find_contradiction(series: Mapping[str, tuple[Vec, Vec]]) -> str:
    """Return a joint with alternating values, or ""."""
    for name, (t, q) in series.items():
        if np.count_nonzero(is_jump(np.diff(t), np.diff(q))) < _N_RETURNS:
            continue
        alternation = Alternation()
        if any(map(alternation.add, t.tolist(), q.tolist())):
            return name
    return ""


def _plain(name: str) -> str:
    return _SEPARATORS.sub("_", name.lower()).strip("_")
