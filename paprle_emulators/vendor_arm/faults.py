"""Orders of a test or user: faults of arm, controller and line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from paprle_emulators.vendor_arm.line import Line

Order = Callable[..., object]
"""Executes an order with its other members as keywords."""

_FOREVER = 1e9  # [s] until ``none``


class Faults:
    """Orders by name; those of the line end after ``time`` [s].

    Every arm has: ``cable``, ``silence``, ``lost`` (``share``), ``late`` (``delay``,
    [s]), ``stall`` (``time``, [s]), ``power_off``, ``power_on`` and ``none``.

    Attributes:
        stalled: Standstill that the loop owes, [s].
    """

    def __init__(
        self,
        line: Line,
        orders: Mapping[str, Order],
        line_orders: Mapping[str, Order] | None = None,
    ) -> None:
        """Add a maker's orders.

        Args:
            line: Cable and power.
            orders: Of arm and controller, by name.
            line_orders: Of the line, which end after their time.
        """
        self.line, self.stalled = line, 0.0
        self._of_line: dict[str, Order] = {
            "cable": self._cut,
            "silence": self._silence,
            "lost": self._lose,
            "late": self._delay,
            **(line_orders or {}),
        }
        self._orders: dict[str, Order] = {
            "none": self._clear,
            "stall": self._stall,
            "power_off": lambda: self._switch(is_on=False),
            "power_on": lambda: self._switch(is_on=True),
            **self._of_line,
            **orders,
        }
        self._end_ns = 1 << 62

    @property
    def names(self) -> tuple[str, ...]:
        """Available orders."""
        return tuple(self._orders)

    def apply(self, now_ns: int, order: Mapping[str, Any]) -> None:
        """Execute ``{"fault": NAME, …}``.

        Raises:
            ValueError: If invalid.
        """
        arguments = dict(order)
        name = str(arguments.pop("fault", ""))
        if name not in self._orders:
            known = ", ".join(self._orders)
            raise ValueError(f"expected a fault, got {name!r}; faults: {known}")
        try:
            if name in self._of_line:
                time = float(arguments.pop("time", _FOREVER))
                self._end_ns = now_ns + round(time * 1e9)
            self._orders[name](**arguments)
        except (TypeError, IndexError) as err:
            raise ValueError(f"fault '{name}': {err}") from err

    def pass_time(self, now_ns: int) -> None:
        """End expired faults of the line."""
        if now_ns >= self._end_ns:
            self._end_ns = 1 << 62
            self.line.mend()

    def clear(self) -> None:
        """End a maker's own faults."""

    def switch(self, *, is_on: bool) -> None:
        """Switch a maker's own parts on or off."""

    def _clear(self) -> None:
        self._end_ns = 1 << 62
        self.line.mend()
        self.clear()

    def _switch(self, *, is_on: bool) -> None:
        self.line.switch(is_on=is_on)
        self.switch(is_on=is_on)

    def _cut(self) -> None:
        self.line.is_cut = True

    def _silence(self) -> None:
        self.line.is_silent = True

    def _lose(self, share: float = 1.0) -> None:
        self.line.share = float(share)

    def _delay(self, delay: float = 0.05) -> None:
        self.line.delay_ns = round(delay * 1e9)

    def _stall(self, time: float = 0.1) -> None:
        self.stalled = float(time)
