"""An emulated phone at the page of a session, over real TLS.

    python -m paprle_emulators.phone 'page=https://192.0.2.7:8443/#TOKEN' [key=value …]

Keys:
    page=ADDRESS         of the page, with its token
    radius=M             of the circle that it draws  (0.05)
    period=S             of a turn  (4)
    rate=HZ              messages per second  (60)
    seconds=S            after which it leaves  (30)
    certificate=FILE     the server's; without it any is accepted

It holds the dead-man and moves on a circle. It prints one JSON line when it is
connected, and ends after its time, on SIGTERM and Ctrl-C.
"""

from __future__ import annotations

import contextlib
import json
import math
import signal
import sys
import threading
import time
from collections.abc import Sequence

from paprle_emulators.command_line import read_number, read_one, say, take_settings

KEYS = ("page", "radius", "period", "rate", "seconds", "certificate")


def main(words: Sequence[str]) -> int:
    """Move on a circle."""
    if {"-h", "--help"} & set(words):
        say(__doc__ or "")
        return 0
    try:
        settings = take_settings(words, KEYS, needed="page")
        numbers = [
            read_number(settings, key, default)
            for key, default in (
                ("radius", 0.05), ("period", 4.0), ("rate", 60.0), ("seconds", 30.0),
            )
        ]  # fmt: skip
        from paprle_emulators.phone.phone import (  # noqa: PLC0415 - needs websockets
            EmulatedPhone,
        )

        page = settings["page"][0]
        phone = EmulatedPhone(page, certificate=read_one(settings, "certificate", ""))
    except (ImportError, OSError, ValueError) as err:
        sys.stderr.write(f"phone emulator: {err}\n")
        return 2
    must_end = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        with contextlib.suppress(ValueError):  # not in the main thread
            signal.signal(number, lambda *_: must_end.set())
    say(json.dumps({"ready": True, "ports": {"page": page}}))
    radius, period, rate, seconds = numbers
    began, n = time.monotonic(), 0
    while (t := time.monotonic() - began) < seconds and not must_end.is_set():
        if not phone.is_held and phone.status.get("state") in {"WAITING", "CLUTCHED"}:
            phone.hold()
        angle = 2 * math.pi * t / period
        p = (radius * math.sin(angle), radius * (1 - math.cos(angle)), 0)
        if not phone.try_tell(p):
            break
        n += 1
        must_end.wait(max(began + n / rate - time.monotonic(), 0))
    phone.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
