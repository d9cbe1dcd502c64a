"""Looks for servos that do not answer where they should: at other rates."""

from __future__ import annotations

from collections.abc import Sequence

from paprle.hardware.dynamixel.errors import BusError
from paprle.hardware.dynamixel.line.wire import Wire
from paprle.hardware.dynamixel.models import BAUD_RATES

_TRIES = 2  # chosen: one lost packet of a hundred is made up for


def find_rates(wire: Wire, ids: Sequence[int]) -> dict[int, int]:
    """Return at which other rates servos answer; writes nothing.

    Args:
        wire: An open wire; it is open again, at its own rate, afterwards.
        ids: Whom to look for.

    Returns:
        The rate of each that was found, by id, [bit/s].

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
    """Open the wire at a rate, if the adapter knows it."""
    try:
        wire.set_baud(baud)
    except BusError:
        return False
    return True


def find_all_elsewhere(wire: Wire, ids: Sequence[int]) -> list[str]:
    """Return one line, instead of one a servo, where all are at one other rate.

    Args:
        wire: An open wire; it is open again, at its own rate, afterwards.
        ids: Whom to look for.

    Returns:
        That line; none where some answer, or not all are found at one rate.

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
    """Return another rate at which all answer; None where there is none."""
    own = wire.baud
    try:
        for baud in BAUD_RATES:
            is_other = baud != own and _can_be_set(wire, baud)
            if is_other and all(wire.ping(i, _TRIES) is not None for i in ids):
                return baud
    finally:
        wire.set_baud(own)
    return None
