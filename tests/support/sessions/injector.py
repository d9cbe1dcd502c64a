"""Hurts a link from its own cable: replays, tampered copies and foreign datagrams.

``python injector.py INTERFACE SECONDS RATE`` sees each UDP frame that leaves by the
interface and sends a copy of the last as it was, a copy with a byte changed, and one of
random bytes, in turn.
"""

import os
import random
import socket
import sys
import time

_ALL = 0x0003  # spec: linux/if_ether.h, ETH_P_ALL
_UDP, _PROTOCOL, _HEAD = 17, 23, 42  # spec: RFC 791; Ethernet, IP and UDP headers


def main(interface, seconds, rate):
    end = time.monotonic() + seconds
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ALL)) as cable:
        cable.bind((interface, 0))
        cable.settimeout(1.0)
        rng, n = random.Random(1), 0
        frame = None
        while time.monotonic() < end:
            data, where = cable.recvfrom(65536)
            if where[2] != 4 or len(data) <= _HEAD or data[_PROTOCOL] != _UDP:
                continue
            frame = frame or data
            for _ in range(max(1, rate // 100)):
                n += 1
                changed = bytearray(data if n % 3 else frame)
                if n % 3 == 1:
                    changed[-1 - rng.randrange(40)] ^= 1 + rng.randrange(255)
                elif n % 3 == 2:
                    changed[_HEAD:] = rng.randbytes(len(data) - _HEAD)
                changed[40:42] = b"\0\0"  # no checksum: what is in it is as it is
                cable.send(bytes(changed))
    sys.stdout.write(f"{n}\n")


if __name__ == "__main__":
    os.nice(5)
    main(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]))
