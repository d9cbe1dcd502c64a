"""Input reports of 3Dconnexion's mice.

Report 1 is the translation, in wireless models with the rotation; 2 the rotation; 3 a
bit by button. Numbers are int16, little-endian; x right, y towards the operator, z
down. Sources: spacenavd, PySpaceMouse (``devices.toml``).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

TRANSLATION, ROTATION, BUTTONS, BATTERY = 1, 2, 3, 23
FULL = 350  # spec: PySpaceMouse axis_scale; the logical maximum of the descriptors

_THREE = struct.Struct("<3h")
_SHORT = 1 + _THREE.size
_LONG = 1 + 2 * _THREE.size
_MOST_BUTTONS = 32

MODELS = {
    (0x046D, 0xC625): "SpacePilot",
    (0x046D, 0xC626): "SpaceNavigator",
    (0x046D, 0xC627): "SpaceExplorer",
    (0x046D, 0xC629): "SpacePilot Pro",
    (0x046D, 0xC62B): "SpaceMouse Pro",
    (0x256F, 0xC62E): "SpaceMouse Wireless (cable)",
    (0x256F, 0xC632): "SpaceMouse Pro Wireless",
    (0x256F, 0xC633): "SpaceMouse Enterprise",
    (0x256F, 0xC635): "SpaceMouse Compact",
    (0x256F, 0xC638): "SpaceMouse Pro Wireless (Bluetooth)",
    (0x256F, 0xC63A): "SpaceMouse Wireless (Bluetooth)",
    (0x256F, 0xC641): "SpaceMouse Module",
    (0x256F, 0xC652): "Universal Receiver",
}
"""USB vendor and product of what speaks so."""


@dataclass(slots=True)
class Mouse:
    """State of a mouse.

    Attributes:
        translation: x, y, z in REP-103 axes, full is 1.
        rotation: About the same axes.
        buttons: A bit each.
    """

    translation: tuple[float, ...] = (0.0, 0.0, 0.0)
    rotation: tuple[float, ...] = (0.0, 0.0, 0.0)
    buttons: int = 0
    n_motions: int = 0
    n_refused: int = 0

    @property
    def is_deflected(self) -> bool:
        """Whether the cap is deflected."""
        return any(self.translation) or any(self.rotation)

    def update(self, report: bytes) -> None:
        """Take a report with its number."""
        kind = report[0] if report else 0
        if kind in {TRANSLATION, ROTATION}:
            self._take_motion(kind, report)
        elif kind == BUTTONS and len(report) > 1:
            bits = int.from_bytes(report[1:], "little")
            self.buttons = bits & ((1 << _MOST_BUTTONS) - 1)
        elif kind in {0, BUTTONS}:
            self.n_refused += 1

    def rest(self) -> None:
        """Reset all deflections."""
        self.translation = self.rotation = (0.0, 0.0, 0.0)

    def _take_motion(self, kind: int, report: bytes) -> None:
        if len(report) < _SHORT:
            self.n_refused += 1
            return
        self.n_motions += 1
        first = _to_rep103(report, 1)
        if kind == ROTATION:
            self.rotation = first
            return
        self.translation = first
        if len(report) >= _LONG:
            self.rotation = _to_rep103(report, _SHORT)


def _to_rep103(report: bytes, at: int) -> tuple[float, ...]:
    # Forward is away from the operator, so x = -y of the cap, y = -x, z = -z. This is a
    # rotation (its determinant is 1), and turns go over as translations do.
    right, back, down = _THREE.unpack_from(report, at)
    return tuple(-one / FULL for one in (back, right, down))
