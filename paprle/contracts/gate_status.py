"""Scalars of the gate's status."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, NamedTuple, get_args, get_type_hints


class GateStatus(NamedTuple):
    """Scalars of the gate's status, with binary types.

    Fields without a note are stamps of other messages than the recorded one.
    """

    k: Annotated[int, "u8", "number of the gate tick"] = 0
    stamp_ns: Annotated[int, "i8"] = 0
    state: Annotated[int, "i4", ""] = 0
    reasons: Annotated[int, "u8", "bits of the reasons that acted in this tick"] = 0
    latched: Annotated[int, "u8", "bits of the latest HOLD or STOPPED"] = 0
    setpoint_seq: Annotated[int, "u8", "newest set-point used"] = 0
    setpoint_ns: Annotated[int, "i8", "its stamp, monotonic clock"] = 0
    meas_ns: Annotated[int, "i8"] = 0
    sim_time: Annotated[float, "f8", "[s]; NaN: none"] = math.nan
    speed_scale: Annotated[float, "f8", "share of V that was allowed"] = 1.0
    clearance: Annotated[float, "f8", "smallest known [m]; +inf: none known"] = math.inf


_PARTS: Mapping[str, tuple[type, ...]] = {
    name: get_args(hint)
    for name, hint in get_type_hints(GateStatus, include_extras=True).items()
}
GATE_NUMBERS = tuple(name for name, parts in _PARTS.items() if parts[0] is float)
"""Fields that are quantities, for those who show all of them."""
GATE_NOTES: Mapping[str, str] = {
    name: str(notes[0]) for name, (_, _, *notes) in _PARTS.items() if notes
}
"""Notes of the fields that the recorded message has, in their order."""
