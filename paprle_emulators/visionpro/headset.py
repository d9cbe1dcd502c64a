"""A headset with the app's gRPC stream, and faults.

    python -m paprle_emulators.visionpro.headset [port]

Its right hand circles and grips. Not simulated: ARKit's noise and losses, radio, start
of the app.
"""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Iterator
from concurrent import futures
from typing import Any

import grpc
import numpy as np
import numpy.typing as npt

from paprle.hardware.visionpro.messages import METHOD, PORT, SERVICE, HandUpdate

Array = npt.NDArray[np.float64]
_PERIOD = 1.0 / 90.0  # [s] measured: avp_stream's own client, 90.3 updates a second
_GRACE = 1.0  # [s] chosen: its streams end by themselves, within a period
_BONES = 0.03  # [m] chosen: of a finger
_HEAD = (0.0, 1.6, 0.0)


class EmulatedVisionPro:
    """One headset.

    Attributes:
        p: Wrist positions, headset axes, shape (3,), [m].
        grips: Middle and ring finger are closed.
        pinch: Between thumb and index, [m].
        is_frozen: Hands are out of sight, poses constant.
        spoil: Changes a message before it is sent.
        is_silent: It sends nothing.
    """

    def __init__(self, port: int = 0) -> None:
        self.p: Array = np.array([0.2, 1.2, -0.3])
        self.grips, self.pinch = False, 0.10
        self.is_frozen = self.is_silent = False
        self.spoil: Any = lambda update: update
        self._n = 0
        self._ending = threading.Event()
        self._server = grpc.server(futures.ThreadPoolExecutor(2))
        handler = grpc.unary_stream_rpc_method_handler(
            self._stream,
            request_deserializer=HandUpdate.FromString,
            response_serializer=HandUpdate.SerializeToString,
        )
        self._server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler(SERVICE, {METHOD: handler}),)
        )
        self.port = self._server.add_insecure_port(f"127.0.0.1:{port}")
        self._server.start()

    def close(self) -> None:
        """Stop; may be called twice."""
        self._ending.set()
        self._server.stop(_GRACE).wait()

    def compose(self) -> Any:
        """Return the next message."""
        self._n += not self.is_frozen
        update = HandUpdate()
        wrist = np.eye(4)
        wrist[:3, 3] = self.p + 1e-5 * math.sin(
            self._n
        )  # a tracked hand is never still
        for hand in (update.left_hand, update.right_hand):
            _write(hand.wristMatrix, wrist)
            for p in self._make_joints():
                joint = np.eye(4)
                joint[:3, 3] = p
                _write(hand.skeleton.jointMatrices.add(), joint)
        head = np.eye(4)
        head[:3, 3] = _HEAD
        _write(update.Head, head)
        return self.spoil(update)

    def _make_joints(self) -> Array:
        """Return joints in the wrist frame, shape (25, 3), [m]."""
        joints = np.zeros((25, 3))
        for first in (5, 10, 15, 20):
            bend = 1.5 if self.grips and first in {10, 15} else 0.0
            for k in range(5):
                angle = bend * max(k - 1, 0)
                step = np.array([math.cos(angle), -math.sin(angle), 0.0])
                joints[first + k] = _BONES * step + (
                    joints[first + k - 1] if k else 0.0
                )
        joints[4] = joints[9] + [0.0, 0.0, self.pinch]
        return joints

    def _stream(self, _request: Any, context: grpc.ServicerContext) -> Iterator[Any]:
        while context.is_active() and not self._ending.wait(_PERIOD):
            if not self.is_silent:
                yield self.compose()


def _write(message: Any, matrix: Array) -> None:
    for r in range(4):
        for c in range(4):
            setattr(message, f"m{r}{c}", float(matrix[r, c]))


def main(words: list[str]) -> int:
    """Move on a circle until stopped."""
    headset = EmulatedVisionPro(int(words[0]) if words else PORT)
    print(f"127.0.0.1:{headset.port}", flush=True)  # noqa: T201 - its one answer
    centre, begin = headset.p.copy(), time.monotonic()
    while True:
        t = time.monotonic() - begin
        headset.grips = t > 1.0
        turn = np.array([0.05 * math.sin(t), 0.05 * (1.0 - math.cos(t)), 0.0])
        headset.p = centre + turn
        time.sleep(_PERIOD)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
