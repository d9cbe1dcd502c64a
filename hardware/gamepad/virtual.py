"""Virtual joysticks of SDL, without sensors and batteries."""

from __future__ import annotations

import ctypes
from collections.abc import Collection, Iterator
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    byref,
    c_char_p,
    c_int,
    c_int16,
    c_uint8,
    c_uint16,
    c_uint32,
    c_void_p,
)
from pathlib import Path
from typing import Any, NamedTuple

from paprle.hardware.gamepad.controls import AXES, BUTTONS, CONTROLS, FULL, TRIGGERS
from paprle.hardware.gamepad.errors import PadError
from paprle.hardware.gamepad.sdl import start_sdl

DUALSENSE = (0x054C, 0x0CE6)
"""USB vendor and product. spec: Sony's; SDL calls such a pad a PS5 controller."""

_MAPS = Path("/proc/self/maps")
_TYPE = 1  # spec: SDL_JOYSTICK_TYPE_GAMECONTROLLER
_VERSION = 1  # spec: SDL_VIRTUAL_JOYSTICK_DESC_VERSION

_Update = CFUNCTYPE(None, c_void_p)
_SetPlayer = CFUNCTYPE(None, c_void_p, c_int)
_Rumble = CFUNCTYPE(c_int, c_void_p, c_uint16, c_uint16)
_SetLed = CFUNCTYPE(c_int, c_void_p, c_uint8, c_uint8, c_uint8)
_Send = CFUNCTYPE(c_int, c_void_p, c_void_p, c_int)


class _Description(Structure):
    """``SDL_VirtualJoystickDesc`` of SDL 2."""

    _fields_ = (
        *((name, c_uint16) for name in ("version", "type", "naxes", "nbuttons")),
        *((name, c_uint16) for name in ("nhats", "vendor", "product", "padding")),
        ("button_mask", c_uint32),
        ("axis_mask", c_uint32),
        ("name", c_char_p),
        ("userdata", c_void_p),
        ("update", _Update),
        ("set_player", _SetPlayer),
        ("rumble", _Rumble),
        ("rumble_triggers", _Rumble),
        ("set_led", _SetLed),
        ("send_effect", _Send),
    )


class Rumbled(NamedTuple):
    """Rumble command to a pad.

    Attributes:
        strong: Low-frequency motor, 0 … 1.
        weak: The other.
    """

    strong: float
    weak: float


class VirtualPad:
    """One pad.

    Attributes:
        is_frozen: As with a lost radio.
    """

    def __init__(
        self,
        name: str = "Virtual pad",
        ids: tuple[int, int] = DUALSENSE,
        *,
        controls: Collection[str] = CONTROLS,
        has_motors: bool = True,
    ) -> None:
        """Plug it in.

        Raises:
            PadError: SDL refuses or is missing.
        """
        start_sdl()
        self._sdl = _load_sdl()
        self.name, self._ids, self._has_motors = name, ids, has_motors
        self._axes = [axis for axis in AXES if axis in controls]
        self._buttons = [button for button in BUTTONS if button in controls]
        self.rumbled: list[Rumbled] = []
        self.is_frozen = False
        self._on_rumble = _Rumble(self._feel)  # SDL calls it: it must not be collected
        self._joystick: Any = None
        self._instance = -1
        self.plug()

    def plug(self) -> None:
        """Plug it in, at rest.

        Raises:
            PadError: SDL refuses.
        """
        if self._joystick is not None:
            return
        description = self._describe()
        index = self._sdl.SDL_JoystickAttachVirtualEx(byref(description))
        if index < 0:
            raise PadError(
                f"SDL: expected a virtual pad, got {self._sdl.SDL_GetError().decode()}"
            )
        self._joystick = self._sdl.SDL_JoystickOpen(index)
        self._instance = self._sdl.SDL_JoystickInstanceID(self._joystick)
        self.is_frozen = False
        for axis in self._axes:
            if axis in TRIGGERS:  # of which SDL takes the middle for half pulled
                self.move(axis, 0.0)

    def move(self, control: str, value: float) -> None:
        """Move a stick (-1 … 1), trigger or button (0 … 1), if present."""
        if self.is_frozen:
            return
        if control in TRIGGERS:
            value = 2.0 * value - 1.0
        if control in self._axes:
            number = self._axes.index(control)
            raw = c_int16(round(FULL * min(max(value, -1.0), 1.0)))
            self._sdl.SDL_JoystickSetVirtualAxis(self._joystick, number, raw)
        elif control in self._buttons:
            number = self._buttons.index(control)
            down = c_uint8(int(value > 0.5))
            self._sdl.SDL_JoystickSetVirtualButton(self._joystick, number, down)

    def unplug(self) -> None:
        """Unplug it."""
        if self._joystick is None:
            return
        for index in range(self._sdl.SDL_NumJoysticks()):
            if self._sdl.SDL_JoystickGetDeviceInstanceID(index) == self._instance:
                self._sdl.SDL_JoystickDetachVirtual(index)
                break
        self._sdl.SDL_JoystickClose(self._joystick)
        self._joystick = None

    def _describe(self) -> _Description:
        description = _Description(
            version=_VERSION,
            type=_TYPE,
            naxes=len(self._axes),
            nbuttons=len(self._buttons),
            vendor=self._ids[0],
            product=self._ids[1],
            button_mask=sum(1 << BUTTONS[button] for button in self._buttons),
            axis_mask=sum(1 << AXES[axis] for axis in self._axes),
            name=self.name.encode(),
        )
        if self._has_motors:
            description.rumble = self._on_rumble
        return description

    def _feel(self, _userdata: object, strong: int, weak: int) -> int:
        self.rumbled.append(Rumbled(strong / 0xFFFF, weak / 0xFFFF))
        return 0


def _load_sdl() -> Any:
    for path in _list_libraries():
        sdl = ctypes.CDLL(path)
        sdl.SDL_JoystickAttachVirtualEx.argtypes = [POINTER(_Description)]
        sdl.SDL_JoystickOpen.restype = c_void_p
        sdl.SDL_JoystickClose.argtypes = [c_void_p]
        sdl.SDL_JoystickInstanceID.argtypes = [c_void_p]
        sdl.SDL_JoystickSetVirtualAxis.argtypes = [c_void_p, c_int, c_int16]
        sdl.SDL_JoystickSetVirtualButton.argtypes = [c_void_p, c_int, c_uint8]
        sdl.SDL_GetError.restype = c_char_p
        return sdl
    raise PadError(
        "virtual pad: expected pygame's SDL among the libraries of this process, got "
        "none; virtual pads run on Linux, with pygame's own wheel"
    )


def _list_libraries() -> Iterator[str]:
    if _MAPS.exists():
        for line in _MAPS.read_text().splitlines():
            path = line.rpartition(" ")[2]
            if Path(path).name.startswith("libSDL2-2"):
                yield path
