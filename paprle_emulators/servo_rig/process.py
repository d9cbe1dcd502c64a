"""Process of an emulated rig."""

from __future__ import annotations

import json
import signal
import sys
from typing import Literal

from paprle_emulators.command_line import say
from paprle_emulators.notice import announce
from paprle_emulators.punctual import request_punctuality
from paprle_emulators.servo_rig.orders import Log
from paprle_emulators.servo_rig.server import Server


def serve(
    server: Server, log: Log | None, part: Literal["leader", "env"], device: str
) -> None:
    """Announce, serve and close a rig."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: server.stop())
    try:
        with announce(part, device, server.list_overrides()):
            say(json.dumps(server.describe()))
            if sys.stdin is not None:
                server.listen(sys.stdin.fileno())
            request_punctuality(is_driven=part == "env")
            server.run()
    finally:
        server.close()
        if log is not None:
            log.close()
