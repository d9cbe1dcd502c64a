"""SDL's names of a game controller's parts.

References:
    SDL 2, ``SDL_gamecontroller.h``: names of its mapping strings.
"""

from __future__ import annotations

from types import MappingProxyType

STICKS = (("leftx", "lefty"), ("rightx", "righty"))
"""Axes that belong together; x to the right, y towards the operator."""

TRIGGERS = ("lefttrigger", "righttrigger")

AXES = MappingProxyType(
    {
        name: number
        for number, name in enumerate(("leftx", "lefty", "rightx", "righty", *TRIGGERS))
    }
)
"""Number of each axis."""

BUTTONS = MappingProxyType(
    {
        name: number
        for number, name in enumerate(
            (
                *("a", "b", "x", "y", "back", "guide", "start"),
                *("leftstick", "rightstick", "leftshoulder", "rightshoulder"),
                *("dpup", "dpdown", "dpleft", "dpright"),
                *("misc1", "paddle1", "paddle2", "paddle3", "paddle4", "touchpad"),
            )
        )
    }
)
"""Number of each button; a, b, x and y are south, east, west and north (Xbox)."""

CONTROLS = (*AXES, *BUTTONS)

FULL = 32767  # spec: SDL_JOYSTICK_AXIS_MAX; the other end of a stick is -32768


def normalise(raw: int) -> float:
    """Return SDL's axis value in [-1, 1]."""
    return max(raw / FULL, -1.0)
