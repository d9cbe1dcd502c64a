"""Leading an arm by hand while a digital input is high."""

from __future__ import annotations

from enum import Enum

_SETTLE_NS = 200_000_000  # [ns] chosen: an arm that stands that long is at rest


class Phase(Enum):
    """Phases of freedrive."""

    OFF = "off"
    AWAITED = "awaited"
    LED = "led"
    LEFT = "left"


class Order(Enum):
    """Work of the driver."""

    NONE = "none"
    BEGIN = "begin"
    END = "end"


class Freedrive:
    """Decides when an arm is led.

    It begins at rest, by an input that rises while the program runs; an input that was
    high before, or at a stop, has to fall first.
    """

    def __init__(self) -> None:
        self.phase = Phase.OFF
        self._was_high = True
        self._moved_ns = 0

    @property
    def is_active(self) -> bool:
        """Whether goals are not obeyed."""
        return self.phase is not Phase.OFF

    def leave(self) -> None:
        """Give it up; the input has to fall first."""
        self.phase, self._was_high = Phase.OFF, True

    def step(
        self, now_ns: int, *, is_high: bool, is_ready: bool, is_still: bool
    ) -> Order:
        """Return the driver's next work; ``is_ready``: the program runs."""
        has_risen = is_high and not self._was_high
        self._was_high = is_high
        if not is_still:
            self._moved_ns = now_ns
        is_at_rest = now_ns - self._moved_ns >= _SETTLE_NS
        if not is_ready:
            self.leave()
        elif self.phase is Phase.OFF and has_risen:
            self.phase, self._moved_ns = Phase.AWAITED, now_ns
        elif self.phase is Phase.AWAITED and not is_high:
            self.phase = Phase.OFF
        elif self.phase is Phase.AWAITED and is_at_rest:
            self.phase = Phase.LED
            return Order.BEGIN
        elif self.phase is Phase.LED and not is_high:
            self.phase, self._moved_ns = Phase.LEFT, now_ns
            return Order.END
        elif self.phase is Phase.LEFT and is_at_rest:
            self.phase = Phase.OFF
        return Order.NONE
