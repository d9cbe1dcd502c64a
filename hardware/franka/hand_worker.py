"""Process of one hand, for blocking calls.

    python -m paprle.hardware.franka.hand_worker FD MODEL ADDRESS FORCE

Opening is a move; closing is a grasp by force.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import time
from typing import Any

from paprle.hardware.franka.hand import GOAL, MAX_WIDTH, STATE
from paprle.hardware.franka.messages import LONGEST
from paprle.hardware.franka.models import MODELS
from paprle.hardware.franka.sdks import load_sdk

_SPEED = 0.1  # [m/s] spec: Franka Hand, product manual, 50 mm/s of each finger
_NEAR = 1e-3  # [m] chosen: the hand's accuracy; not commanded again


def _serve(hand: Any, node: socket.socket, force: float) -> None:
    goal, has_failed, is_held = -1.0, False, False
    while True:
        width = hand.read_once().width
        node.send(STATE.pack(time.monotonic_ns(), has_failed, width))
        news, is_owned = _take_newest(node)
        if not is_owned:
            return
        if news is not None:
            goal, is_held = news, False
        if goal < 0 or is_held or abs(goal - width) < _NEAR:
            continue
        if goal < width:
            # an object of any width is well held
            is_held = True
            has_failed = not hand.grasp(goal, _SPEED, force, goal, MAX_WIDTH)
        else:
            has_failed, is_held = not hand.move(goal, _SPEED), True


def _take_newest(node: socket.socket) -> tuple[float | None, bool]:
    found = None
    with contextlib.suppress(BlockingIOError):
        while True:
            data = node.recv(LONGEST, socket.MSG_DONTWAIT)
            if not data:
                return None, False
            (found,) = GOAL.unpack(data)
    return found, True


def main(words: list[str]) -> None:
    """Serve one hand."""
    node = socket.socket(fileno=int(words[0]))
    try:
        _, model, address, force = words
        hand = load_sdk(MODELS[model]).Gripper(address)
        _serve(hand, node, float(force))
    except Exception as err:  # noqa: BLE001 - whatever the SDK raises ends it
        with contextlib.suppress(OSError):
            node.send(f"{type(err).__name__}: {err}".encode()[:LONGEST])
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
