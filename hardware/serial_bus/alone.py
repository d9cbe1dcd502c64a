"""Search for a lone servo."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from paprle.hardware.serial_bus.errors import BusError
from paprle.hardware.serial_bus.wire import RegisterWire


class Alone(NamedTuple):
    """Lone servo: id, model number, rate [bit/s]."""

    id: int
    number: int
    baud: int


def find_alone(
    wire: RegisterWire, rates: Sequence[int], scan: Callable[[], Mapping[int, int]]
) -> Alone:
    """Return the only servo, at any id and rate.

    Args:
        wire: Open; its rate is first.
        rates: [bit/s].
        scan: Model numbers by id at the present rate.

    Raises:
        BusError: None or several answer.
    """
    own = wire.baud
    try:
        for baud in dict.fromkeys((own, *rates)):
            wire.set_baud(baud)
            found = scan()
            if len(found) > 1:
                listed = ", ".join(map(str, sorted(found)))
                raise BusError(
                    f"port '{wire.path}': expected one servo alone, got ids {listed} "
                    f"at {baud} [bit/s]; unplug the others"
                )
            for servo_id, number in found.items():
                return Alone(servo_id, number, baud)
    finally:
        wire.set_baud(own)
    listed = ", ".join(map(str, rates))
    raise BusError(
        f"port '{wire.path}': expected a servo, got no answer at {listed} [bit/s]; "
        "check its power and its cable"
    )
