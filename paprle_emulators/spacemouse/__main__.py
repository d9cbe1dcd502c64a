"""An emulated six-axis mouse behind hidraw.

    python -m paprle_emulators.spacemouse [key=value …]

Keys:
    port=PATH        socket that stands for /dev/hidrawN  (a new one in /tmp)
    wireless=BOOL    one report has translation and rotation  (false)

A client opens the path with hidapi, in a process that preloads the library of "env":
LD_PRELOAD=… python client.py. It needs a C compiler.
It prints one JSON line, takes JSON lines on standard input and answers each with one:
    {"cmd": "move", "translation": [1, 0, 0], "rotation": [0, 0, 0.5]}   full scale 1
    {"cmd": "press", "buttons": [0]}          those that are down
    {"cmd": "send", "report": "01ffff"}       any bytes, as hexadecimal digits
    {"cmd": "unplug"}, {"cmd": "replug"}
It ends on SIGTERM and Ctrl-C.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from paprle_emulators.command_line import read_one, say, serve, take_settings
from paprle_emulators.spacemouse.mouse import EmulatedMouse, build_shim

KEYS = ("port", "wireless")
_REST = (0.0, 0.0, 0.0)


def main(words: Sequence[str]) -> int:
    """Serve the mouse."""
    if {"-h", "--help"} & set(words):
        say(__doc__ or "")
        return 0
    with tempfile.TemporaryDirectory(prefix="spacemouse-") as folder:
        try:
            settings = take_settings(words, KEYS)
            library = build_shim(Path(folder))
            path = Path(read_one(settings, "port", f"{folder}/hidraw"))
            is_wireless = read_one(settings, "wireless", "false") == "true"
            mouse = EmulatedMouse(path, is_wireless=is_wireless)
        except (OSError, ValueError) as err:
            sys.stderr.write(f"spacemouse emulator: {err}\n")
            return 2
        try:
            _serve(mouse, path, library)
        finally:
            mouse.unplug()
    return 0


def _serve(mouse: EmulatedMouse, path: Path, library: Path) -> None:
    def move(
        translation: Sequence[float] = _REST, rotation: Sequence[float] = _REST
    ) -> None:
        x, y, z = map(float, translation)
        roll, pitch, yaw = map(float, rotation)
        mouse.move((x, y, z), (roll, pitch, yaw))

    serve(
        {"ports": {"mouse": str(path)}, "env": {"LD_PRELOAD": str(library)}},
        {
            "move": move,
            "press": lambda buttons: mouse.press(*map(int, buttons)),
            "send": lambda report: mouse.send(bytes.fromhex(report)),
            "unplug": mouse.unplug,
            "replug": mouse.replug,
        },
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
