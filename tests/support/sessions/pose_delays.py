"""Sees how late the link's datagrams arrive at a host, each by its own stamp.

``python pose_delays.py INTERFACE SECONDS`` prints, by kind of datagram, how many came
and p50 and p99 of their way, [ms], as JSON. Both hosts are one machine, so that they
share a clock, and the stamp in the head of a sealed datagram can be read as it is.
"""

import json
import socket
import struct
import sys
import time

import numpy as np

from paprle.link.packets import DatagramKind

_ALL = 0x0003  # spec: linux/if_ether.h, ETH_P_ALL
_OUTGOING = 4  # spec: linux/if_packet.h, PACKET_OUTGOING
_UDP, _PROTOCOL, _HEAD = 17, 23, 42  # spec: RFC 791; Ethernet, IP and UDP headers
_STAMPED = struct.Struct("<3sBqq")  # magic, kind, seq, stamp
_MAGIC = b"PL2"  # all of it: a sealed part of a picture may begin with two letters


def main(interface, seconds):
    end = time.monotonic() + seconds
    delays = {}
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ALL)) as cable:
        cable.bind((interface, 0))
        cable.settimeout(0.2)
        while time.monotonic() < end:
            try:
                data, where = cable.recvfrom(65536)
            except TimeoutError:
                continue
            now_ns = time.monotonic_ns()
            if where[2] == _OUTGOING or data[_PROTOCOL] != _UDP:
                continue
            body = data[_HEAD:]
            if body.startswith(_MAGIC) and len(body) > _STAMPED.size:
                _, kind, _, stamp_ns = _STAMPED.unpack_from(body)
                delays.setdefault(DatagramKind(kind).name, []).append(
                    1e-6 * (now_ns - stamp_ns)
                )
    told = {
        kind: [len(ms), *np.percentile(ms, [50, 99])] for kind, ms in delays.items()
    }
    sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
