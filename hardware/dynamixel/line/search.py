"""Search for silent servos at other rates."""

from __future__ import annotations

from collections.abc import Sequence

from paprle.hardware.dynamixel.line.wire import Wire
from paprle.hardware.dynamixel.models import BAUD_RATES
from paprle.hardware.serial_bus import search


def find_rates(wire: Wire, ids: Sequence[int]) -> dict[int, int]:
    """Return the other rates at which servos answer, by id, [bit/s]; writes nothing.

    Raises:
        BusError: If the port is gone.
    """
    return search.find_rates(wire, ids, BAUD_RATES)


def find_all_elsewhere(
    wire: Wire, ids: Sequence[int], key: str = "leader.baud"
) -> list[str]:
    """Return one line if all servos answer at one other rate; ``key`` sets the rate.

    Raises:
        BusError: If the port is gone.
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
