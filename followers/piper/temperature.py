"""Warnings of warm motors before the arm stops."""

from __future__ import annotations

from collections.abc import Sequence

from paprle.hardware.piper.readings import Motor

_WARM = 65  # [°C] chosen: at which it stops is not published
_STEP = 5  # [°C] chosen: told again when it goes on, and over when that much below


class Warmth:
    """Motors already warned of."""

    def __init__(self) -> None:
        self._motors: Sequence[Motor] = ()
        self._next: dict[int, int] = {}

    def update(self, motors: Sequence[Motor]) -> list[str]:
        """Return new warnings."""
        if motors is self._motors:
            return []
        self._motors = motors
        news = []
        for joint, motor in enumerate(motors, start=1):
            warm, limit = motor.temperature, self._next.get(joint, _WARM)
            if warm >= limit:
                self._next[joint] = warm + _STEP
                news.append(
                    f"joint{joint}: {warm} C, and the arm stops when it is too hot; "
                    "let it rest"
                )
            elif warm <= _WARM - _STEP and joint in self._next:
                del self._next[joint]
                news.append(f"joint{joint}: {warm} C, cool again")
        return news
