"""An emulated Apple Vision Pro: the stream of the app Tracking Streamer, over gRPC.

    python -m paprle_emulators.visionpro [port=12345]

Its right hand circles and grips. It prints one JSON line with its address, takes JSON
lines on standard input and answers each with one:
    {"fault": "frozen"}, {"fault": "silent"}   poses stand, or nothing is sent;
                                               "on": false ends it
    {"cmd": "pinch", "gap": 0.01}              between thumb and index, m
It ends on SIGTERM and Ctrl-C.
"""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Sequence

import numpy as np

from paprle_emulators.command_line import read_number, say, serve, take_settings
from paprle_emulators.visionpro.messages import PORT

RADIUS = 0.05  # chosen: a small motion of a hand [m]
GRIP_TIME = 1.0  # chosen: after which the hand grips [s]


def main(words: Sequence[str]) -> int:
    """Serve the headset."""
    if {"-h", "--help"} & set(words):
        say(__doc__ or "")
        return 0
    try:
        port = round(read_number(take_settings(words, ("port",)), "port", PORT))
        from paprle_emulators.visionpro.headset import (  # noqa: PLC0415 - needs grpc
            PERIOD,
            EmulatedVisionPro,
        )

        headset = EmulatedVisionPro(port)
    except (ImportError, RuntimeError, ValueError) as err:
        sys.stderr.write(f"visionpro emulator: {err}\n")
        return 2
    ending = threading.Event()
    centre, begin = headset.p.copy(), time.monotonic()

    def circle() -> None:
        while not ending.wait(PERIOD):
            t = time.monotonic() - begin
            headset.grips = t > GRIP_TIME
            turn = np.array([math.sin(t), 1.0 - math.cos(t), 0.0])
            headset.p = centre + RADIUS * turn

    def cause(fault: str, on: bool = True) -> None:
        if fault not in {"frozen", "silent"}:
            raise ValueError(f"fault: expected frozen or silent, got '{fault}'")
        setattr(headset, f"is_{fault}", on)

    def pinch(gap: float) -> None:
        headset.pinch = float(gap)

    hand = threading.Thread(target=circle, name="hand")
    hand.start()
    address = f"127.0.0.1:{headset.port}"
    try:
        serve({"ports": {"headset": address}}, {"fault": cause, "pinch": pinch})
    finally:
        ending.set()
        hand.join()
        headset.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
