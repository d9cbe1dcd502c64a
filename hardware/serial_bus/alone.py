"""Search for the only servo that is connected."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from paprle.hardware.serial_bus.errors import BusError
from paprle.hardware.serial_bus.wire import RegisterWire


class Alone(NamedTuple):
    """A lone servo: id, model number and rate [bit/s]."""

    id: int
    number: int
    baud: int


def find_alone(
    wire: RegisterWire, rates: Sequence[int], scan: Callable[[], Mapping[int, int]]
) -> Alone:
    """Return the only connected servo, at any id and rate.

    Args:
        wire: Open; its own rate comes first.
        rates: To search, [bit/s].
        scan: Returns model numbers by id at the wire's rate.

    Raises:
        BusError: If none answers, or several do.
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
