"""Search at other rates."""

from __future__ import annotations

from collections.abc import Sequence

from paprle.hardware.dynamixel.line.wire import Wire
from paprle.hardware.dynamixel.models import BAUD_RATES
from paprle.hardware.serial_bus import search


def find_rates(wire: Wire, ids: Sequence[int]) -> dict[int, int]:
    """Return servos' other rates by id, [bit/s], without writing.

    Raises:
        BusError: Lost port.
    """
    return search.find_rates(wire, ids, BAUD_RATES)


def find_all_elsewhere(
    wire: Wire, ids: Sequence[int], key: str = "leader.baud"
) -> list[str]:
    """Return a line if all servos answer at another rate, set by ``key``.

    Raises:
        BusError: Lost port.
    """
    found = search.find_common_rate(wire, ids, BAUD_RATES)
    if found is None:
        return []
    listed = ", ".join(map(str, ids))
    return [
        f"port '{wire.path}': expected servos {listed} at {wire.baud} [bit/s], got all "
        f"of them at {found} [bit/s]; set {key}={found}, or give them the other "
        "rate: paprle setup-servos"
    ]
