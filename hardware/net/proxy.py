"""Impaired copy of frames between two interfaces.

    python -m paprle.hardware.net.proxy OUTER1 OUTER2 TRACE [SEED]

The first is the operator's. Lines of JSON on standard input change it:
``{"trace": "4g"}``, ``{"dead": true}``, ``{"dead": "up"}``, or
``{"delay": 0.02, "loss": 0.01, "rate": 2e6}``; it ends with its input.
"""

from __future__ import annotations

import json
import os
import select
import socket
import sys
import time
from typing import Any

from paprle.hardware.net.impairment import Impairment
from paprle.hardware.net.trace import DIRECTIONS, Row, Trace, load_traces

_ALL = 0x0003  # spec: linux/if_ether.h, ETH_P_ALL
_OUTGOING = 4  # spec: linux/if_packet.h, PACKET_OUTGOING
_FRAME = 65536  # [bytes] chosen: larger than any
_PRIORITY = 60  # chosen: above all that it carries for


class Proxy:
    """Proxy of two interfaces."""

    def __init__(
        self, interfaces: list[str], traces: dict[str, Trace], seed: int
    ) -> None:
        """Open both; the first one's frames go up."""
        self._ends = []
        for name in interfaces:
            end = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ALL))
            end.bind((name, 0))
            end.setblocking(False)
            self._ends.append(end)
        self._seed = seed
        self._ways: list[Impairment] = []
        self._use(traces)

    def run(self) -> None:
        """Copy until standard input ends."""
        while True:
            dues = [way.due for way in self._ways if way.due is not None]
            wait = min(dues, default=time.monotonic() + 1.0) - time.monotonic()
            files: list[Any] = [*self._ends, sys.stdin]
            ready, _, _ = select.select(files, [], [], max(0.0, wait))
            if sys.stdin in ready and not self._obey(sys.stdin.readline()):
                return
            for i, end in enumerate(self._ends):
                if end in ready:
                    self._take(i)
            for i, way in enumerate(self._ways):
                for data in way.deliver(time.monotonic()):
                    self._ends[1 - i].send(data)

    def _use(self, traces: dict[str, Trace]) -> None:
        old = self._ways
        self._ways = [
            Impairment(traces[direction], self._seed + i, headers=0)
            for i, direction in enumerate(DIRECTIONS)
        ]
        for way, before in zip(self._ways, old, strict=False):
            way.take_over(before)

    def _obey(self, line: str) -> bool:
        if not line:
            return False
        order: dict[str, Any] = json.loads(line)
        if "trace" in order:
            self._use(load_traces(order["trace"]))
        elif "delay" in order:
            row = Row(0.0, order["delay"], 0.0, order.get("loss", 0.0))
            row = row._replace(rate=order.get("rate", 0.0))
            self._use(dict.fromkeys(DIRECTIONS, Trace([row])))
        dead = order.get("dead", False)
        for direction, way in zip(DIRECTIONS, self._ways, strict=True):
            way.is_dead = dead is True or dead == direction
        return True

    def _take(self, i: int) -> None:
        while True:
            try:
                data, where = self._ends[i].recvfrom(_FRAME)
            except BlockingIOError:
                return
            if where[2] != _OUTGOING:
                self._ways[i].send(data, time.monotonic())


if __name__ == "__main__":
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(_PRIORITY))
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    Proxy(sys.argv[1:3], load_traces(sys.argv[3]), seed).run()
