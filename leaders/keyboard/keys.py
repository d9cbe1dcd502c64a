"""Keys of a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType

import numpy as np

from paprle.contracts.axes import FREEDOMS, N_FREEDOMS
from paprle.contracts.types import Vec, readonly

_ESCAPE = 0x1B
_LONGEST_SEQUENCE = 16  # [bytes] chosen: no key sends more
_ARROWS = {"A": "up", "B": "down", "C": "right", "D": "left"}

GRIPPER = FREEDOMS.index("gripper")


def _axis(index: int, sign: int) -> Vec:
    axis = np.zeros(N_FREEDOMS)
    axis[index] = sign
    return readonly(axis)


MOTIONS = MappingProxyType(
    {
        **{"w": _axis(0, 1), "s": _axis(0, -1), "a": _axis(1, 1), "d": _axis(1, -1)},
        **{"up": _axis(0, 1), "down": _axis(0, -1)},
        **{"left": _axis(1, 1), "right": _axis(1, -1)},
        **{"r": _axis(2, 1), "f": _axis(2, -1)},
        **{"o": _axis(3, 1), "u": _axis(3, -1), "i": _axis(4, 1), "k": _axis(4, -1)},
        **{"j": _axis(5, 1), "l": _axis(5, -1)},
        **{"h": _axis(GRIPPER, 1), "g": _axis(GRIPPER, -1)},
    }
)
"""Direction of each key, shape (7,), in the order of ``FREEDOMS``."""

MODES = MappingProxyType({"m": 1, ",": -1})
"""Modes that each key goes on: with an advisor, to what it suggests."""

HELP = (
    "w/s or up/down: forward/back · a/d or left/right: left/right · r/f: up/down · "
    "i/k: pitch · j/l: yaw · u/o: roll · g/h: gripper close/open · 1…9: speed · "
    "m/,: next/last mode or suggestion · ?: help"
)


class KeyParser:
    """Splits bytes into keys; escape sequences may be partial."""

    def __init__(self) -> None:
        self._pending = bytearray()

    def parse(self, data: bytes) -> Iterator[str]:
        """Yield lower-case letters, arrows by name, "" for others."""
        for byte in data:
            if self._pending or byte == _ESCAPE:
                self._pending.append(byte)
                key = self._sequence()
                if key is not None:
                    self._pending.clear()
                    yield key
            elif 0x20 < byte < 0x7F:
                yield chr(byte).lower()
            else:
                yield ""

    def _sequence(self) -> str | None:
        if len(self._pending) == 1:
            return None
        if chr(self._pending[1]) not in "[O":
            return ""
        if len(self._pending) == 2:
            return None
        last = self._pending[-1]
        if 0x40 <= last <= 0x7E or len(self._pending) >= _LONGEST_SEQUENCE:
            return _ARROWS.get(chr(last), "")
        return None
