"""Settings of any maker's arm."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class VendorSettings:
    """Address and payload; a driver adds its own.

    Attributes:
        host: Of the controller.
        payload: At the flange, [kg]; None: as set at the controller.
        payload_centre: In the flange's frame, [m].
    """

    host: str
    payload: float | None = None
    payload_centre: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        """Check the payload.

        Raises:
            ValueError: If its mass is negative, or a figure not finite.
        """
        mass = 0.0 if self.payload is None else self.payload
        if not (math.isfinite(mass) and mass >= 0.0):
            raise ValueError(
                f"'{self.host}': expected a payload of 0 [kg] or more, got {mass} "
                "[kg]; weigh the tool, or leave it out for the controller's"
            )
        if not all(map(math.isfinite, self.payload_centre)):
            raise ValueError(
                f"'{self.host}': expected the payload's centre as three numbers [m], "
                f"got {self.payload_centre}"
            )
