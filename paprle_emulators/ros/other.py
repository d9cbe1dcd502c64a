"""Another node, in its own process."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from dataclasses import asdict

from paprle.hardware.ros.transports.choice import NodeSettings, open_bus

_LENGTH = 4  # [B] chosen: of what stands before each message
_PATIENCE = 5.0  # [s] chosen: for a node to leave its graph


class OtherNode:
    """A foreign publisher of one topic."""

    def __init__(self, settings: NodeSettings, topic: str, typename: str) -> None:
        what = json.dumps([asdict(settings), topic, typename])
        command = [sys.executable, "-m", "paprle_emulators.ros.other", what]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, bufsize=0)
        with contextlib.suppress(
            OSError, AttributeError
        ):  # it begins with our priority
            pid = self._process.pid
            os.sched_setscheduler(pid, os.SCHED_OTHER, os.sched_param(0))
        self._pipe = self._process.stdin
        if self._pipe is not None:
            os.set_blocking(self._pipe.fileno(), False)

    def publish(self, data: bytes) -> None:
        """Send up to 4 KiB; drop without room."""
        # up to PIPE_BUF a pipe takes the whole or nothing
        with contextlib.suppress(BrokenPipeError):
            if self._pipe is not None:
                self._pipe.write(len(data).to_bytes(_LENGTH, "big") + data)

    def close(self) -> None:
        """End it."""
        if self._pipe is not None:
            self._pipe.close()
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def main(what: str) -> int:
    """Publish messages of standard input."""
    values, topic, typename = json.loads(what)
    values["peers"] = tuple(values["peers"])
    bus = open_bus(NodeSettings(**values), "another")
    publisher = bus.advertise(topic, typename)
    stream = sys.stdin.buffer
    while head := stream.read(_LENGTH):
        data = stream.read(int.from_bytes(head, "big"))
        publisher.publish(data)
    bus.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
