"""Pictures for a page, each the newest at its request."""

from __future__ import annotations

import asyncio
import math
import struct
from collections.abc import Callable
from typing import Protocol

from paprle.hardware.web.client import Client, run_until_one_ends
from paprle.hardware.web.sender_clock import SenderClock

SOCKET = "/picture"
# when it was exposed, on the page's clock [ms], NaN where that is not known;
# 1 where the camera turns as the head does
_HEAD = struct.Struct("<dB")
_NAP = 0.004  # [s] chosen: how soon a new picture is seen


class PagePicture(Protocol):
    """Picture for a page."""

    @property
    def stamp_ns(self) -> int:
        """Exposure on our clock, [ns]."""

    @property
    def data(self) -> bytes:
        """Size, lens and JPEG."""


class Pictures:
    """Sender of the newest picture at each request."""

    def __init__(
        self,
        find: Callable[[], PagePicture | None],
        page_clock: Callable[[], SenderClock],
        *,
        turns_with_head: bool,
    ) -> None:
        """Take a thread-safe finder, and the page's clock."""
        self._find, self._page_clock = find, page_clock
        self._turns_with_head = turns_with_head
        self._is_asked = False

    async def handle(self, client: Client) -> None:
        """Send to a client until it leaves."""
        self._is_asked = False
        await run_until_one_ends(self._listen(client), self._show(client))

    async def _listen(self, client: Client) -> None:
        async for _ in client.listen():
            self._is_asked = True

    async def _show(self, client: Client) -> None:
        shown_ns, is_there = 0, True
        while is_there:
            picture = self._find() if self._is_asked else None
            if picture is None or picture.stamp_ns == shown_ns:
                await asyncio.sleep(_NAP)
                continue
            shown_ns, self._is_asked = picture.stamp_ns, False
            is_there = await client.send(self._write(picture))

    def _write(self, picture: PagePicture) -> bytes:
        best = self._page_clock().offset
        t_ms = math.nan if best is None else 1e-6 * (picture.stamp_ns - best.offset_ns)
        return _HEAD.pack(t_ms, self._turns_with_head) + picture.data
