"""Search for silent servos at other rates."""

from __future__ import annotations

from collections.abc import Sequence

from paprle.hardware.dynamixel.errors import BusError
from paprle.hardware.dynamixel.line.wire import Wire
from paprle.hardware.dynamixel.models import BAUD_RATES

_TRIES = 2  # chosen: one lost packet of a hundred is made up for


def find_rates(wire: Wire, ids: Sequence[int]) -> dict[int, int]:
    """Return the other rates at which servos answer, by id, [bit/s]; writes nothing.

    Raises:
        BusError: If the port is gone.
    """
    found: dict[int, int] = {}
    own = wire.baud
    try:
        for baud in BAUD_RATES:
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


def _can_be_set(wire: Wire, baud: int) -> bool:
    try:
        wire.set_baud(baud)
    except BusError:
        return False
    return True


def find_all_elsewhere(wire: Wire, ids: Sequence[int]) -> list[str]:
    """Return one line if all servos answer at one other rate.

    Raises:
        BusError: If the port is gone.
    """
    if any(wire.ping(i, tries=1) is not None for i in ids):
        return []
    found = _find_common_rate(wire, ids)
    if found is None:
        return []
    listed = ", ".join(map(str, ids))
    return [
        f"port '{wire.path}': expected servos {listed} at {wire.baud} [bit/s], got all "
        f"of them at {found} [bit/s]; set leader.baud={found}, or give them the other "
        "rate: paprle setup-servos"
    ]


def _find_common_rate(wire: Wire, ids: Sequence[int]) -> int | None:
    own = wire.baud
    try:
        for baud in BAUD_RATES:
            is_other = baud != own and _can_be_set(wire, baud)
            if is_other and all(wire.ping(i, _TRIES) is not None for i in ids):
                return baud
    finally:
        wire.set_baud(own)
    return None
