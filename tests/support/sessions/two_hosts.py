"""Two network namespaces joined by veth, with a bad network between.

Between them is ``paprle.hardware.net.proxy``.
"""

from __future__ import annotations

import ctypes
import fcntl
import itertools
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import time

import pytest

from paprle.ipc.process import WORKSPACE

_ETHTOOL, _SET_CHECKSUMS = 0x8946, 0x17  # spec: linux/sockios.h, linux/ethtool.h


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
        self._proxy = subprocess.Popen(
            [sys.executable, "-m", "paprle.hardware.net.proxy", *outer, "5g"],
            stdin=subprocess.PIPE,
            text=True,
            cwd=WORKSPACE,
        )

    def on(self, host: int) -> list[str]:
        """Return what to put before a command so that it runs on that host."""
        return ["ip", "netns", "exec", self.names[host]]

    def set(
        self, *, delay: float, loss: float, dead: object = False, rate: float = 0.0
    ) -> int:
        """Change the network; returns the monotonic time of it, [ns].

        ``dead`` is True for both ways, or "up" or "down".
        """
        return self.tell(delay=delay, loss=loss, dead=dead, rate=rate)

    def tell(self, **order: object) -> int:
        """Tell the proxy; returns the monotonic time of it, [ns]."""
        self._proxy.stdin.write(json.dumps(order) + "\n")
        self._proxy.stdin.flush()
        return time.monotonic_ns()

    def queue(self, *discipline: str) -> None:
        """Let the kernel queue what leaves each host; skips where it has no such queue.

        Args:
            discipline: As ``tc`` names it, with its options.
        """
        if shutil.which("tc") is None:
            pytest.skip("the kernel's queues need tc (iproute2)")
        for i in range(2):
            put = [*self.on(i), "tc", "qdisc", "replace", "dev", self.inner(i), "root"]
            done = subprocess.run([*put, *discipline], capture_output=True, check=False)
            told = done.stderr.decode()
            if "Specified qdisc kind is unknown" in told:
                pytest.skip(f"the kernel has no sch_{discipline[0]}")
            assert done.returncode == 0, told

    def inner(self, i: int) -> str:
        """Name the end of a host's cable that is in it."""
        return f"pl{self._tag}{i}i"

    def close(self) -> None:
        self._proxy.stdin.close()
        self._proxy.wait(10)
        for name in self.names:
            _run("ip", "netns", "del", name)

    def _join(self, i: int) -> str:
        """Make one host and its cable; returns the cable's outer end."""
        outer, inner = f"pl{self._tag}{i}o", self.inner(i)
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
