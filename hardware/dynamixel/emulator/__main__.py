"""Runs an emulated rig: ``python -m hardware.dynamixel.emulator leader=<config>``."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

from hardware.dynamixel.emulator.config import read_rig
from hardware.dynamixel.emulator.rig import Rig
from hardware.dynamixel.emulator.server import Server


def main(words: list[str]) -> int:
    """Serve until SIGTERM or Ctrl-C; return the exit code."""
    settings = dict(word.split("=", 1) for word in words if "=" in word)
    link_dir = settings.get("link_dir")
    rig = Rig(read_rig(settings["leader"]))
    server = Server(rig, Path(link_dir) if link_dir else None)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: server.stop())
    print(json.dumps(server.describe()), flush=True)
    try:
        server.run()
    finally:
        server.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
