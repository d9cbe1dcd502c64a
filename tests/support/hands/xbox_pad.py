"""An Xbox 360 pad as Linux has it, inside SDL: raw axes, buttons and a hat.

``python xbox_pad.py DATABASE DESCRIPTION OURS`` plugs it in with the mapping that a
database has for it, does one thing after the other with it, and prints what the rack
says of each and where the leader goes, as JSON. It is a process of its own, for SDL
reads a database when it starts; a virtual pad has an identity of its own, for which it
writes that mapping to another database.
"""

from __future__ import annotations

import json
import sys
import time
from ctypes import c_int, c_int16, c_uint8, c_void_p
from itertools import chain
from pathlib import Path

from paprle.hardware.gamepad.rack import Rack
from paprle.hardware.gamepad.sdl import start_sdl
from paprle.hardware.gamepad.virtual import VirtualPad
from paprle.leaders.gamepad.config import GamepadConfig, PadSettings
from paprle.leaders.gamepad.leader import Gamepad

NAME = "Microsoft X-Box 360 pad"
_KEY, _ABS = 1, 3  # spec: linux/input-event-codes.h, as all that follow
_JOYSTICK, _HATS = 0x120, range(0x10, 0x18)
_TRIGGERS = (0x02, 0x05)  # ABS_Z, ABS_RZ of xpad: 0 … 255, at rest at their lower end
_LOW, _FULL = -32768, 32767
_ANY = 0  # spec: SDL_JOYSTICK_TYPE_UNKNOWN: SDL maps nothing by itself


def read_identity(description: str) -> tuple[int, ...]:
    """Return bus, vendor, product and version of a description of evemu."""
    [line] = [row for row in description.splitlines() if row.startswith("I: ")]
    return tuple(int(word, 16) for word in line.split()[1:])


def read_codes(description: str, kind: int) -> list[int]:
    """Return the codes of one kind of event that it has, in order."""
    head = f"B: {kind:02x} "
    rows = [row for row in description.splitlines() if row.startswith(head)]
    data = bytes.fromhex("".join(row[len(head) :] for row in rows))
    return [8 * n + k for n, byte in enumerate(data) for k in range(8) if byte >> k & 1]


def find_mapping(database: str, identity: tuple[int, ...]) -> str:
    """Return what a database says of a device on Linux, without GUID and name."""
    guid = b"".join(word.to_bytes(2, "little") + b"\0\0" for word in identity).hex()
    [line] = [
        row
        for row in database.splitlines()
        if row.startswith(guid) and "platform:Linux" in row
    ]
    return line.split(",", 2)[2]


class XboxPad(VirtualPad):
    """A pad that SDL numbers as the kernel does, and knows by a database alone."""

    def __init__(self, description: str) -> None:
        keys, axes = (read_codes(description, kind) for kind in (_KEY, _ABS))
        self._keys = [code for code in keys if code >= _JOYSTICK]
        self._sticks = [code for code in axes if code not in _HATS]
        _, vendor, product, _ = read_identity(description)
        super().__init__(NAME, (vendor, product), controls=())

    def plug(self) -> None:
        super().plug()
        for code in _TRIGGERS:
            self.turn(code, _LOW)

    def press(self, code: int, value: int) -> None:
        """Press the button of a code."""
        number = self._keys.index(code)
        self._sdl.SDL_JoystickSetVirtualButton(self._joystick, number, c_uint8(value))

    def turn(self, code: int, value: int) -> None:
        """Turn the axis of a code."""
        number = self._sticks.index(code)
        self._sdl.SDL_JoystickSetVirtualAxis(self._joystick, number, c_int16(value))

    def tilt(self, hat: int) -> None:
        """Press the D-pad: 1 up, 2 right, 4 down, 8 left."""
        move = self._sdl.SDL_JoystickSetVirtualHat
        move.argtypes = [c_void_p, c_int, c_uint8]
        move(self._joystick, 0, hat)

    def _describe(self):
        description = super()._describe()
        description.type = _ANY
        description.naxes, description.nbuttons = len(self._sticks), len(self._keys)
        description.nhats = 1
        return description

    def play(self):
        """Do one thing after the other, and undo each once its name was taken."""
        for code in self._keys:
            self.press(code, 1)
            yield f"key {code:#x}"
            self.press(code, 0)
        for code in self._sticks:
            rest = _LOW if code in _TRIGGERS else 0
            for end in (_FULL,) if rest else (_LOW, _FULL):
                self.turn(code, end)
                yield f"axis {code:#x} {'+' if end > 0 else '-'}"
            self.turn(code, rest)
        for hat in (1, 2, 4, 8):
            self.tilt(hat)
            yield f"hat {hat}"
        self.tilt(0)


def read_rack(pad: XboxPad, database: str) -> dict[str, dict[str, float]]:
    """Return what is not at rest while each thing is done."""
    rack = Rack([NAME], database)
    rack.open()
    said = {}
    for done in chain(("nothing",), pad.play()):
        [values] = rack.read(time.monotonic_ns())
        said[done] = {name: value for name, value in values.items() if value}
    rack.close()
    return said


def read_leader(pad: XboxPad, database: str) -> list[float]:
    """Return the axes of the leader while LB is held and the left stick pushed."""
    pads = {"pad": PadSettings(device="x-box 360")}
    leader = Gamepad(GamepadConfig(pads=pads, database=database), time.monotonic_ns)
    leader.open()
    leader.latest()
    pad.press(0x136, 1)
    pad.turn(0x01, _LOW)
    leader.latest()
    sample = leader.latest()
    leader.close()
    return [float(value) for value in sample.limbs["hand"].axes]


def main(database: str, description: str, ours: str) -> None:
    """Write a database with a line for the pad, plug it in, and print what is read."""
    text = Path(description).read_text(encoding="utf-8")
    lines = Path(database).read_text(encoding="utf-8")
    _, vendor, product, _ = identity = read_identity(text)
    ids = "".join(
        word.to_bytes(2, "little").hex() + "0000" for word in (vendor, product)
    )
    guid = f"ff000000{ids}00007600"  # spec: SDL's of what is virtual, of no name
    mapping = find_mapping(lines, identity)
    Path(ours).write_text(f"{lines}\n{guid},{NAME},{mapping}\n", encoding="utf-8")
    start_sdl(ours)
    pad = XboxPad(text)
    said = {"rack": read_rack(pad, ours), "leader": read_leader(pad, ours)}
    sys.stdout.write(json.dumps(said))


if __name__ == "__main__":
    main(*sys.argv[1:])
