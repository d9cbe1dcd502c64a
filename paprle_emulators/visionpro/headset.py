"""The app's gRPC stream, with faults."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from concurrent import futures
from typing import Any

import grpc
import numpy as np
import numpy.typing as npt

from paprle_emulators.visionpro.messages import (
    METHOD,
    SERVICE,
    Hand,
    HandUpdate,
    encode,
)

Array = npt.NDArray[np.float64]
PERIOD = 1.0 / 90.0  # [s] measured: avp_stream's own client, 90.3 updates a second
_GRACE = 1.0  # [s] chosen: its streams end by themselves, within a period
_BONES = 0.03  # [m] chosen: of a finger
_HEAD = (0.0, 1.6, 0.0)


class EmulatedVisionPro:
    """One headset.

    Attributes:
        p: Wrists, headset axes, shape (3,), [m].
        grips: Middle and ring finger closed.
        pinch: Between thumb and index, [m].
        spoil: Changes messages before sending.
    """

    def __init__(self, port: int = 0) -> None:
        self.p: Array = np.array([0.2, 1.2, -0.3])
        self.grips, self.pinch = False, 0.10
        self.is_frozen = self.is_silent = False
        self.spoil: Callable[[HandUpdate], HandUpdate] = lambda update: update
        self._n = 0
        self._ending = threading.Event()
        self._server = grpc.server(futures.ThreadPoolExecutor(2))
        handler = grpc.unary_stream_rpc_method_handler(
            self._stream,
            request_deserializer=bytes,  # its content means nothing
            response_serializer=encode,
        )
        self._server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler(SERVICE, {METHOD: handler}),)
        )
        self.port = self._server.add_insecure_port(f"127.0.0.1:{port}")
        self._server.start()

    def close(self) -> None:
        """Stop."""
        self._ending.set()
        self._server.stop(_GRACE).wait()

    def compose(self) -> HandUpdate:
        """Return the next message."""
        self._n += not self.is_frozen
        shake = 1e-5 * math.sin(self._n)  # a tracked hand is never still
        joints = self._make_joints()
        left, right = (
            Hand(_place(self.p + shake), [_place(p) for p in joints]) for _ in range(2)
        )
        return self.spoil(HandUpdate(left, right, _place(np.array(_HEAD))))

    def _make_joints(self) -> Array:
        """Return joints in the wrist frame, (25, 3), [m]."""
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

    def _stream(
        self, _request: Any, context: grpc.ServicerContext
    ) -> Iterator[HandUpdate]:
        while context.is_active() and not self._ending.wait(PERIOD):
            if not self.is_silent:
                yield self.compose()


def _place(p: Array) -> Array:
    T = np.eye(4)
    T[:3, 3] = p
    return T
