"""An emulated RealSense on the network with a view of a hand.

    python -m paprle_emulators.hand domain=77

Keys:
    domain=N         DDS domain of librealsense  (0)

It needs opencv-python and a librealsense with DDS (pyrealsense2.pyrealdds). It prints
one JSON line, takes JSON lines on standard input and answers each with one:
    {"cmd": "at", "p": [0, 0, 0.5]}      root of the middle finger, camera axes, m
    {"cmd": "curl", "share": 0.7}        0 flat, 1 fist
    {"cmd": "show"}, {"cmd": "hide"}     the hand
    {"cmd": "unplug"}, {"cmd": "replug"}
It ends on SIGTERM and Ctrl-C.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Sequence

import numpy as np

from paprle_emulators.command_line import read_number, say, serve, take_settings


def main(words: Sequence[str]) -> int:
    """Serve the camera."""
    if {"-h", "--help"} & set(words):
        say(__doc__ or "")
        return 0
    try:
        domain = round(read_number(take_settings(words, ("domain",)), "domain", 0))
        from paprle_emulators.hand.realsense import (  # noqa: PLC0415 - needs pyrealdds
            FPS,
            SERIAL,
            EmulatedRealsense,
        )

        camera = EmulatedRealsense(domain)
    except (ImportError, RuntimeError, ValueError) as err:
        sys.stderr.write(f"hand emulator: {err}\n")
        return 2
    ending = threading.Event()

    def film() -> None:
        next_t = time.monotonic()
        while not ending.wait(max(0.0, next_t - time.monotonic())):
            camera.show()
            next_t = max(next_t + 1.0 / FPS, time.monotonic())

    def show(is_shown: bool) -> None:
        camera.is_shown = is_shown

    def place(p: Sequence[float]) -> None:
        camera.p = np.array([float(x) for x in p])

    def curl(share: float) -> None:
        camera.curl = float(share)

    thread = threading.Thread(target=film, name="film")
    thread.start()
    try:
        serve(
            {"ports": {"camera": SERIAL}, "domain": domain},
            {
                "at": place,
                "curl": curl,
                "show": lambda: show(True),
                "hide": lambda: show(False),
                "unplug": camera.unplug,
                "replug": camera.plug,
            },
        )
    finally:
        ending.set()
        thread.join()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
