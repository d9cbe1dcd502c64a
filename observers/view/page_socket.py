"""Messages between pages and session."""

from __future__ import annotations

import asyncio
import base64
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from paprle.hardware.web.client import Client, run_until_one_ends
from paprle.hardware.web.errors import MessageError
from paprle.hardware.web.messages import ClockMessage
from paprle.observers.view.library import Library
from paprle.observers.view.messages import (
    VERSION,
    Clutch,
    Control,
    HandsMessage,
    Hello,
    LevelMessage,
    Message,
    Note,
    PlaceObject,
    Press,
    Report,
    Task,
    parse,
)
from paprle.observers.view.panel import Panel
from paprle.observers.view.thumbnails import Album

_TELL = 0.1  # [s] chosen: faster than this nobody reads
_N_QUICK, _SLOW = 10, 10  # chosen: ten questions of the time at once, then one a second
_WRONG = 1002  # spec: RFC 6455, protocol error
_FULL = 1013  # spec: RFC 6455's registry, try again later
_NONE = -1  # where there is no picture
_MOST = 12  # chosen: a class that watches; each costs a few messages a second


class Talk:
    """Exchanges messages of pages and panel."""

    def __init__(
        self, panel: Panel, clock: Callable[[], int], *, has_scene: bool
    ) -> None:
        self.told: dict[str, Any] = {}
        self.refused: Counter[str] = Counter()
        self.album: Album | None = None
        self.library: Library | None = None
        self._panel, self._clock, self._has_scene = panel, clock, has_scene
        self._clients: dict[Client, str] = {}
        self._takers: Mapping[type, Callable[[Client, Any], str]] = {
            HandsMessage: panel.take_hands,
            Press: lambda who, said: panel.press(who, said.action),
            Clutch: lambda who, said: panel.clutch(who, said.limb, is_held=said.held),
            LevelMessage: lambda who, said: panel.choose_level(
                who, said.level, has_cues=said.cues
            ),
            PlaceObject: lambda who, said: panel.place(who, said.name, said.xyz),
            Task: lambda who, said: panel.give_task(who, said.text),
            Note: lambda who, said: panel.give_note(who, said.text),
            Report: lambda who, said: self._ask_for_report(who, said.episode),
            Control: self._pass_control,
            ClockMessage: self._take_time,
        }

    async def handle(self, client: Client) -> None:
        """Serve one page until it closes."""
        if len(self._clients) >= _MOST:
            await client.close(_FULL, "too many pages watch")
            return
        self._clients[client] = ""
        self._panel.watch(is_watched=True)
        try:
            await run_until_one_ends(self._listen(client), self._tell(client))
        finally:
            self._panel.leave(client)
            self._clients.pop(client, None)
            self._panel.watch(is_watched=self.is_watched)

    @property
    def is_watched(self) -> bool:
        """Whether any page is open."""
        return bool(self._clients)

    def is_operator(self, page: str) -> bool:
        """Return whether a page operates."""
        return bool(page) and self._clients.get(self._panel.operator) == page  # type: ignore[call-overload,no-any-return]

    async def _listen(self, client: Client) -> None:
        async for data in client.listen():
            try:
                message = parse(data)
            except MessageError:
                self.refused["message"] += 1
                continue
            if isinstance(message, Hello):
                if message.version != VERSION:
                    await client.close(_WRONG, "reload the page")
                    return
                self._clients[client] = message.page
            elif not self._clients[client]:
                self.refused["order"] += 1
                continue
            why = self._take(client, message)
            if why:
                self.refused["not now"] += 1
                await client.send(json.dumps({"type": "refused", "why": why}))

    def _take(self, client: Client, message: Message) -> str:
        take = self._takers.get(type(message))
        return "" if take is None else take(client, message)

    def _pass_control(self, client: Client, message: Control) -> str:
        if message.wanted:
            self._panel.take_control(client)
        else:
            self._panel.leave(client)
        return ""

    def _take_time(self, client: Client, message: ClockMessage) -> str:
        if client is self._panel.operator:
            clock = self._panel.clock
            clock.answer(message.id, int(message.t * 1e6), self._clock())
        return ""

    def _ask_for_report(self, client: Client, episode: str) -> str:
        if client is not self._panel.operator:
            return "take control first"  # it takes the machine's time
        return (
            "nothing is recorded" if self.library is None else self.library.ask(episode)
        )

    async def _tell(self, client: Client) -> None:
        panel, n = self._panel, 0
        shown: dict[str, int] = {}
        welcome: dict[str, Any] = {
            "type": "welcome",
            "version": VERSION,
            "scene": self._has_scene,
        }
        is_there = await client.send(json.dumps(welcome))
        while is_there:
            if client is panel.operator:
                if n < _N_QUICK or n % _SLOW == 0:
                    number = panel.clock.ask(self._clock())
                    await client.send(json.dumps({"type": "clock", "id": number}))
                n += 1
            else:
                n = 0
            panel.put_down()
            who = "you" if client is panel.operator else "another"
            own = {
                "type": "state",
                "control": who if panel.operator is not None else "nobody",
                "watching": len(self._clients),
                "may_clear": panel.may_clear,
                "held": panel.is_held,
                "vain_drags": panel.n_vain_drags,
                "held_limbs": panel.held_limbs,
                "level": panel.level,
                "has_levels": panel.side != "off",
                "placed": panel.places,
                "reports": {} if self.library is None else self.library.reports,
            }
            is_there = await client.send(json.dumps({**self.told, **own}))
            for picture in self._list_pictures(client, shown):
                is_there = is_there and await client.send(picture)
            await asyncio.sleep(_TELL)

    def _list_pictures(self, client: Client, shown: dict[str, int]) -> Iterator[str]:
        strips = {} if self.library is None else dict(self.library.strips)
        for name in strips.keys() - shown.keys():
            if not client.is_behind:
                shown[name] = 0
                told = {"type": "strips", "episode": name, "strips": strips[name]}
                yield json.dumps(told)
        if self.album is not None:
            yield from _list_shots(self.album, client, shown)


def _list_shots(album: Album, client: Client, shown: dict[str, int]) -> Iterator[str]:
    shots = dict(album.shots)
    for name, info in list(album.cameras.items()):
        key, shot = f"camera {name}", shots.get(name)
        number = _NONE if shot is None else shot.number
        if shown.get(key, _NONE) == number or client.is_behind:
            continue
        shown[key] = number
        told: dict[str, Any] = {"type": "picture", "camera": name}
        if shot is not None:
            told["period"] = max(1.0 / info.fps, _TELL)
            told["jpeg"] = base64.b64encode(shot.jpeg).decode("ascii")
        yield json.dumps(told)
