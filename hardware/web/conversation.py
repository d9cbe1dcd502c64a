"""Messages of a page and a leader."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from paprle.hardware.web.client import Client, run_until_one_ends
from paprle.hardware.web.device import WebDevice
from paprle.hardware.web.errors import MessageError
from paprle.hardware.web.messages import (
    VERSION,
    HelloMessage,
    parse_message,
    write_message,
)

_TELL = 0.05  # [s] chosen: what a hand feels as at once
_N_QUICK, _SLOW = 10, 20  # chosen: ten questions at once, then one a second
_LATER = 1013  # spec: RFC 6455's registry, try again later
_WRONG = 1002  # spec: RFC 6455, protocol error


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """Status for the page.

    Attributes:
        rumble: 0 … 1.
        contact: From the command, 0 … 1.
        limit: Nearness of limits, 0 … 1.
        clearance: 1 on avoidance.
        standing: Reason that the robot stands although it is asked to move.
        is_recorded: An episode is being recorded.
    """

    state: str = "INIT"
    drives: bool = False
    rumble: float = 0.0
    contact: float = 0.0
    limit: float = 0.0
    clearance: float = 0.0
    standing: str = ""
    is_recorded: bool = False


class Conversation:
    """Exchange of a client and a device.

    Attributes:
        told: For the page; set by any thread.
    """

    def __init__(
        self,
        device: WebDevice,
        kind: str,
        limbs: tuple[str, ...],
        clock: Callable[[], int],
    ) -> None:
        self.told = Told()
        self.device_name = ""
        self.has_pictures = False
        self._device, self._kind, self._limbs = device, kind, limbs
        self._clock = clock

    async def handle(self, client: Client) -> None:
        """Exchange messages with a client until it leaves."""
        if not self._device.begin(client):
            await client.close(_LATER, "another device commands")
            return
        try:
            await run_until_one_ends(self._listen(client), self._tell(client))
        finally:
            self._device.end(client)

    async def _listen(self, client: Client) -> None:
        has_greeted = False
        async for data in client.listen():
            try:
                message = parse_message(data)
            except MessageError:
                self._device.refused["message"] += 1
                continue
            if isinstance(message, HelloMessage):
                if message.version != VERSION:
                    await client.close(_WRONG, "reload the page")
                    return
                has_greeted, self.device_name = True, message.device
            if has_greeted:
                self._device.accept(message)
            else:
                self._device.refused["order"] += 1

    async def _tell(self, client: Client) -> None:
        is_there = await client.send(
            write_message(
                "welcome",
                version=VERSION,
                kind=self._kind,
                limbs=list(self._limbs),
                pictures=self.has_pictures,
            )
        )
        n = 0
        while is_there:
            if n < _N_QUICK or n % _SLOW == 0:
                number = self._device.clock.ask(self._clock())
                await client.send(write_message("clock", id=number))
            is_there = await client.send(self._write_status())
            n += 1
            await asyncio.sleep(_TELL)

    def _write_status(self) -> str:
        told, device = self.told, self._device
        best = device.clock.offset
        return write_message(
            "status",
            state=told.state,
            drives=told.drives,
            rumble=round(told.rumble, 3),
            contact=round(told.contact, 3),
            limit=round(told.limit, 3),
            clearance=round(told.clearance, 3),
            standing=told.standing,
            round_trip=None if best is None else round(2e-6 * best.bound_ns, 1),
            jumps=device.n_jumps,
            ending=round(device.end_sign.share, 2),
            recorded=told.is_recorded,
        )
