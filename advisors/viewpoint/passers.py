"""Objects that come in the way: from where they are to where they will be.

A camera is slower than what passes: one that gives way to where an object is goes along
before it, until it is overtaken. So what is in the way of a line of sight is all of the
way that an object has in the next moment.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from paprle.contracts.named_objects import find_object
from paprle.contracts.plugins import SessionView
from paprle.contracts.types import Vec

_STEADY = 0.1  # [s] chosen: over which a velocity is averaged; a marker is seen 30 Hz
_LONGEST = 0.1  # [s] chosen: seen before that, it may have been carried elsewhere
_FARTHEST = 0.3  # [m] chosen: of the way ahead; one that is thrown passes at once


class Passer(NamedTuple):
    """An object when it was last looked at.

    Attributes:
        stamp_ns: When, [ns].
        p: Where, shape (3,), [m].
        v: How fast, shape (3,), [m/s].
    """

    stamp_ns: int
    p: Vec
    v: Vec


class Passers:
    """Named objects with a radius, and how fast each is."""

    def __init__(self, radii: Mapping[str, float], ahead: float) -> None:
        """Make them.

        Args:
            radii: Of each object by name, [m].
            ahead: How long the way is that counts, [s].
        """
        self._radii, self._ahead = radii, ahead
        self._seen: dict[str, Passer] = {}

    def find(self, view: SessionView) -> Vec:
        """Return where each is and will be, and its radius, shape (n, 7), [m]."""
        rows = []
        for name, radius in self._radii.items():
            thing = find_object(view, name)
            if thing is None:
                self._seen.pop(name, None)
                continue
            passer = self._look(name, thing.pose[:3], view.written_ns)
            way = self._ahead * passer.v
            way *= min(1.0, _FARTHEST / max(float(np.linalg.norm(way)), _FARTHEST))
            rows.append([*passer.p, *(passer.p + way), radius])
        return np.array(rows).reshape(-1, 7)

    def _look(self, name: str, p: Vec, stamp_ns: int) -> Passer:
        before = self._seen.get(name)
        dt = 0.0 if before is None else (stamp_ns - before.stamp_ns) * 1e-9
        v = np.zeros(3)
        if before is not None and 0.0 < dt <= _LONGEST:
            v = before.v + ((p - before.p) / dt - before.v) * dt / (_STEADY + dt)
        self._seen[name] = Passer(stamp_ns, p.copy(), v)
        return self._seen[name]
