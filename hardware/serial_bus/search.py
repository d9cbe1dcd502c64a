"""Search at other rates, without writing."""

from __future__ import annotations

from collections.abc import Sequence

from paprle.hardware.serial_bus.errors import BusError
from paprle.hardware.serial_bus.wire import RegisterWire

_TRIES = 2  # chosen: one lost packet of a hundred is made up for


def find_rates(
    wire: RegisterWire, ids: Sequence[int], rates: Sequence[int]
) -> dict[int, int]:
    """Return servos' other rates by id, [bit/s].

    Raises:
        BusError: Lost port.
    """
    found: dict[int, int] = {}
    own = wire.baud
    try:
        for baud in rates:
            missing = [i for i in ids if i not in found]
            if baud == own or not missing:
                continue
            if not _can_be_set(wire, baud):
                continue
            answering = [i for i in missing if wire.ping(i, _TRIES) is not None]
            found |= dict.fromkeys(answering, baud)
    finally:
        wire.set_baud(own)
    return found


def find_common_rate(
    wire: RegisterWire, ids: Sequence[int], rates: Sequence[int]
) -> int | None:
    """Return a common other rate, [bit/s], or None.

    Raises:
        BusError: Lost port.
    """
    if any(wire.ping(i, tries=1) is not None for i in ids):
        return None
    own = wire.baud
    try:
        for baud in rates:
            is_other = baud != own and _can_be_set(wire, baud)
            if is_other and all(wire.ping(i, _TRIES) is not None for i in ids):
                return baud
    finally:
        wire.set_baud(own)
    return None


def _can_be_set(wire: RegisterWire, baud: int) -> bool:
    try:
        wire.set_baud(baud)
    except BusError:
        return False
    return True
