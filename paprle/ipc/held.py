"""Causes that hold limbs back, in the gate's status."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

HELD = 96  # [bytes] chosen: a limb and a gripper with the names of two links each
_BETWEEN, _OF = "; ", ": "


def pack_held(held: Mapping[str, str]) -> bytes:
    """Return causes as bytes, as many as fit."""
    data = b""
    for name, cause in held.items():
        more = f"{_BETWEEN if data else ''}{name}{_OF}{cause}".encode()
        if len(data) + len(more) <= HELD:
            data += more
    return data


def read_held(status: npt.NDArray[np.void]) -> dict[str, str]:
    """Return causes by limb or joint."""
    if "held" not in (status.dtype.names or ()):
        return {}
    told = status["held"].item().decode(errors="replace").strip()
    parts = (part.partition(_OF) for part in told.split(_BETWEEN) if part)
    return {name: cause for name, _, cause in parts if cause}
