"""SDL without window or signal handlers, by hints before pygame loads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from paprle.hardware.gamepad.errors import PadError

_HINTS = {
    # without a window SDL has no focus, and without focus every axis reads 0
    "SDL_JOYSTICK_ALLOW_BACKGROUND_EVENTS": "1",
    # SDL would take SIGTERM, and the process would not end
    "SDL_NO_SIGNAL_HANDLERS": "1",
    # each Joy-Con is a pad of its own, held upright: one for each hand
    "SDL_JOYSTICK_HIDAPI_COMBINE_JOY_CONS": "0",
    "SDL_JOYSTICK_HIDAPI_VERTICAL_JOY_CONS": "1",
    "PYGAME_HIDE_SUPPORT_PROMPT": "1",
}


class Found(NamedTuple):
    """A pad that SDL sees.

    Attributes:
        place: Until a pad comes or goes.
        guid: Of its model.
        instance: While plugged in.
    """

    place: int
    name: str
    guid: str
    instance: int


class Sdl(NamedTuple):
    """Modules that read pads.

    Attributes:
        joystick: ``pygame.joystick``.
        controller: ``pygame._sdl2.controller``.
    """

    joystick: Any
    controller: Any
    update: Callable[[], object]


def start_sdl(database: str = "") -> Sdl:
    """Return SDL's modules, with a first call's ``database``.

    Raises:
        PadError: SDL does not start.
        ImportError: Missing pygame.
    """
    for hint, value in _HINTS.items():
        os.environ.setdefault(hint, value)
    if database:
        os.environ["SDL_GAMECONTROLLERCONFIG_FILE"] = database
    import pygame  # noqa: PLC0415 - a listing loads no SDK
    from pygame._sdl2 import controller  # noqa: PLC0415

    try:
        pygame.joystick.init()
        controller.init()
        if not hasattr(controller, "update"):
            # pygame-ce: pads are read with all events, which belong to a window
            os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
            pygame.display.init()
            return Sdl(pygame.joystick, controller, pygame.event.clear)
    except pygame.error as err:
        raise PadError(
            f"SDL: expected to start, got {err}; python -c 'import pygame' tells more"
        ) from err
    controller.set_eventstate(False)  # state is read, nobody takes events
    return Sdl(pygame.joystick, controller, controller.update)


def list_pads(sdl: Sdl) -> Iterator[Found]:
    """Yield the pads with a mapping."""
    for index in range(sdl.controller.get_count()):
        if sdl.controller.is_controller(index):
            try:
                stick = sdl.joystick.Joystick(index)
            except RuntimeError:  # pygame's own: it is forbidden, or gone again
                continue
            yield Found(
                index, stick.get_name(), stick.get_guid(), stick.get_instance_id()
            )
