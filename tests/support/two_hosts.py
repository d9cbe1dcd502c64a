"""Two network namespaces joined by veth, with a forwarder between that misbehaves.

The forwarder is a process that copies frames from one veth to the other, late and with
losses: ``tc netem`` is not in every kernel. What it is told comes as JSON lines on its
standard input: ``{"delay": 0.02, "loss": 0.01, "dead": false, "rate": 2e6}``; a rate is
in bits a second, with a queue of 200 ms before it.
"""

from __future__ import annotations

import ctypes
import fcntl
import heapq
import itertools
import json
import math
import os
import random
import select
import shutil
import socket
import struct
import subprocess
import sys
import time

import pytest

_ALL = 0x0003  # spec: linux/if_ether.h, ETH_P_ALL
_OUTGOING = 4  # spec: linux/if_packet.h, PACKET_OUTGOING
_ETHTOOL, _SET_CHECKSUMS = 0x8946, 0x17  # spec: linux/sockios.h, linux/ethtool.h


_QUEUE = 0.2  # [s] chosen: a common buffer of a narrow link

_NUMBERS = itertools.count()


def need_namespaces() -> None:
    """Skip without root or iproute2."""
    if os.geteuid() or shutil.which("ip") is None:
        pytest.skip("two hosts need root and iproute2")
    done = subprocess.run(["ip", "netns", "list"], capture_output=True, check=False)
    if done.returncode:
        pytest.skip(f"two hosts need network namespaces: {done.stderr.decode()}")


class TwoHosts:
    """Two hosts and the network between them.

    Attributes:
        addresses: Of the leader's host and of the follower's.
    """

    def __init__(self) -> None:
        # a namespace lives on for a while after it was deleted, with its cable
        self._tag = f"{os.getpid() % 100000}{chr(97 + next(_NUMBERS) % 26)}"
        self.names = [f"paprle-{side}-{self._tag}" for side in "lf"]
        net = 100 + os.getpid() % 100
        self.addresses = [f"10.77.{net}.1", f"10.77.{net}.2"]
        outer = [self._join(i) for i in range(2)]
        self._forwarder = subprocess.Popen(
            [sys.executable, __file__, *outer], stdin=subprocess.PIPE, text=True
        )

    def on(self, host: int) -> list[str]:
        """Return what to put before a command so that it runs on that host."""
        return ["ip", "netns", "exec", self.names[host]]

    def set(
        self, *, delay: float, loss: float, dead: bool = False, rate: float = math.inf
    ) -> int:
        """Change the network; returns the monotonic time of it, [ns]."""
        order = {"delay": delay, "loss": loss, "dead": dead, "rate": rate}
        self._forwarder.stdin.write(json.dumps(order) + "\n")
        self._forwarder.stdin.flush()
        return time.monotonic_ns()

    def close(self) -> None:
        self._forwarder.stdin.close()
        self._forwarder.wait(10)
        for name in self.names:
            _run("ip", "netns", "del", name)

    def _join(self, i: int) -> str:
        """Make one host and its cable; returns the cable's outer end."""
        outer, inner = f"pl{self._tag}{i}o", f"pl{self._tag}{i}i"
        name, address = self.names[i], self.addresses[i]
        _run("ip", "netns", "add", name)
        _run("ip", "link", "add", outer, "type", "veth", "peer", "name", inner)
        for end in (outer, inner):  # frames are copied, so they have to be whole
            _send_whole_checksums(end)
        _run("ip", "link", "set", inner, "netns", name)
        _run("ip", "link", "set", outer, "up")
        inside = ["ip", "netns", "exec", name, "ip"]
        _run(*inside, "addr", "add", f"{address}/24", "dev", inner)
        _run(*inside, "link", "set", inner, "up")
        _run(*inside, "link", "set", "lo", "up")
        return outer


def _run(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True)


def _send_whole_checksums(interface: str) -> None:
    """Switch off that checksums are left to a card that there is not."""
    order = struct.pack("II", _SET_CHECKSUMS, 0)
    buffer = ctypes.create_string_buffer(order, len(order))
    request = struct.pack("16sP16x", interface.encode(), ctypes.addressof(buffer))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        fcntl.ioctl(sock, _ETHTOOL, request)


class Forwarder:
    """Copies frames between two interfaces until its standard input ends."""

    def __init__(self, *interfaces: str) -> None:
        self._ends = []
        for name in interfaces:
            end = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ALL))
            end.bind((name, 0))
            end.setblocking(False)
            self._ends.append(end)
        self._delay, self._loss, self._is_dead = 0.0, 0.0, False
        self._rate, self._free = math.inf, [0.0, 0.0]
        self._waiting: list[tuple[float, int, int, bytes]] = []
        self._n, self._random = 0, random.Random(5)

    def run(self) -> None:
        while True:
            due = self._waiting[0][0] - time.monotonic() if self._waiting else 1.0
            ready, _, _ = select.select([*self._ends, 0], [], [], max(0.0, due))
            if 0 in ready and not self._obey():
                return
            for i, end in enumerate(self._ends):
                if end in ready:
                    self._take(i)
            self._send_due()

    def _obey(self) -> bool:
        line = sys.stdin.readline()
        if line:
            order = json.loads(line)
            self._delay, self._loss = order["delay"], order["loss"]
            self._is_dead, self._rate = order["dead"], order["rate"]
        return bool(line)

    def _take(self, i: int) -> None:
        while True:
            try:
                data, where = self._ends[i].recvfrom(65536)
            except BlockingIOError:
                return
            if where[2] == _OUTGOING or self._is_dead:
                continue
            if self._random.random() < self._loss:
                continue
            now = time.monotonic()
            begin = max(now, self._free[i])
            if begin - now > _QUEUE:
                continue
            self._n += 1
            self._free[i] = begin + 8 * len(data) / self._rate
            due = self._free[i] + self._delay
            heapq.heappush(self._waiting, (due, self._n, 1 - i, data))

    def _send_due(self) -> None:
        while self._waiting and self._waiting[0][0] <= time.monotonic():
            _, _, i, data = heapq.heappop(self._waiting)
            self._ends[i].send(data)


if __name__ == "__main__":
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(60))
    Forwarder(*sys.argv[1:]).run()
