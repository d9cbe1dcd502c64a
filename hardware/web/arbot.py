"""Protocol of ARBot's Android app, without token, TLS, time or dead-man.

``{"position": {x, y, z, qx, qy, qz, qw}, "gripper": f}``, in the axes of ROS. Source:
cake-lab/AR-PiPER, ``websocket_bridge_node4.py``.
"""

from __future__ import annotations

import http
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge, Le
from pydantic import TypeAdapter
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.http11 import Request, Response

from paprle.hardware.web.client import Client
from paprle.hardware.web.device import WebDevice
from paprle.hardware.web.errors import MessageError
from paprle.hardware.web.hand import HandReading
from paprle.hardware.web.messages import (
    NORM,
    Length,
    QuaternionPart,
    parse_object,
    validate,
)
from paprle.hardware.web.serving.server import OPTIONS, listen_at, name_peer
from paprle.hardware.web.settings import AppSettings

_LATER = 1013  # spec: RFC 6455's registry, try again later
_LARGE = 1e6  # chosen: whatever unit the app has for its gripper


@dataclass(frozen=True, kw_only=True, slots=True)
class _Position:
    __pydantic_config__: ClassVar[Mapping[str, Any]] = {
        "strict": True,
        "allow_inf_nan": False,
    }

    x: Length
    y: Length
    z: Length
    qx: QuaternionPart
    qy: QuaternionPart
    qz: QuaternionPart
    qw: QuaternionPart


@dataclass(frozen=True, kw_only=True, slots=True)
class _ArbotMessage:
    __pydantic_config__: ClassVar[Mapping[str, Any]] = {
        "strict": True,
        "allow_inf_nan": False,
    }

    position: _Position
    gripper: Annotated[float, Ge(-_LARGE), Le(_LARGE)] | None = None


_ADAPTER: TypeAdapter[Any] = TypeAdapter(_ArbotMessage)


class App:
    """Server for the app at one address."""

    def __init__(
        self,
        settings: AppSettings,
        device: WebDevice,
        limb: str,
        clock: Callable[[], int],
    ) -> None:
        self._settings, self._device, self._limb = settings, device, limb
        self._clock = clock
        self.n_refused = 0

    async def open(self) -> Server:
        """Listen."""
        listening = listen_at(self._settings.address, self._settings.port, n_ports=1)
        return await serve(
            self._host, sock=listening, process_request=self._answer, **OPTIONS
        )

    def _answer(
        self, connection: ServerConnection, request: Request
    ) -> Response | None:
        is_phone = name_peer(connection) == self._settings.phone
        if not is_phone or request.headers.get_all("Origin"):
            self.n_refused += 1
            return connection.respond(http.HTTPStatus.FORBIDDEN, "refused\n")
        return None

    async def _host(self, connection: ServerConnection) -> None:
        client = Client(connection, self._clock)
        if not self._device.begin(client):
            await client.close(_LATER, "another device commands")
            return
        try:
            async for data in client.listen():
                self._take(data)
        finally:
            self._device.end(client)

    def _take(self, data: str | bytes) -> None:
        try:
            seen = parse_arbot(data, self._settings.closed, self._settings.open)
        except MessageError:
            self._device.refused["message"] += 1
            return
        self._device.take_hands({self._limb: seen}, None)


def parse_arbot(data: str | bytes, closed: float, open_: float) -> HandReading:
    """Return a message's hand, always held.

    Args:
        data: Message.
        closed: Value at opening 0.
        open_: At opening 1.

    Raises:
        MessageError: Invalid message or quaternion.
    """
    parse_object(data)
    message = validate(_ADAPTER, data)
    at = message.position
    q = np.array([at.qx, at.qy, at.qz, at.qw])
    norm = float(np.linalg.norm(q))
    if not NORM[0] <= norm <= NORM[1]:
        raise MessageError(f"position: expected a unit quaternion, got length {norm:g}")
    opening = None
    if message.gripper is not None:
        share = (message.gripper - closed) / (open_ - closed)
        opening = min(max(share, 0.0), 1.0)
    p = np.array([at.x, at.y, at.z])
    return HandReading(p, q / norm, True, True, 0, opening, has_deadman=False)
