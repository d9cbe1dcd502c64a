"""Input reports of 3Dconnexion's mice.

Report 1 is the translation, in wireless models with the rotation; 2 the rotation; 3 a
bit per button. Numbers are int16, little-endian; x right, y towards the operator, z
down. Sources: spacenavd, PySpaceMouse (``devices.toml``).
"""

from __future__ import annotations

import struct

Three = tuple[float, float, float]

TRANSLATION, ROTATION, BUTTONS = 1, 2, 3  # spec: spacenavd, src/dev_usb.c
FULL = 350  # spec: PySpaceMouse axis_scale; the logical maximum of the descriptors


def pack_motion(number: int, *vectors: Three) -> bytes:
    """Return a report of vectors, REP-103 axes, full scale 1."""
    counts: list[int] = []
    for forward, left, up in vectors:
        # the cap's axes: right, towards the operator, down
        counts += (round(-left * FULL), round(-forward * FULL), round(-up * FULL))
    return struct.pack(f"<B{len(counts)}h", number, *counts)


def pack_buttons(bits: int) -> bytes:
    """Return a report of button bits."""
    return struct.pack("<BH", BUTTONS, bits)
