"""Running parts of the page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

from paprle.contracts.operator.actions import PAGE_KEYS
from paprle.contracts.operator.requests import Wishes
from paprle.contracts.plugins import Clock
from paprle.contracts.types import RobotInfo
from paprle.hardware.web.serving.addresses import find_place
from paprle.hardware.web.serving.files import load_pages
from paprle.hardware.web.serving.server import POLICY, Page, Site, WebServer
from paprle.observers.view.config import ViewConfig
from paprle.observers.view.library import Library
from paprle.observers.view.page_socket import Talk
from paprle.observers.view.panel import Panel
from paprle.observers.view.thumbnails import Album
from paprle.observers.view.viser_proxy import Relay, load_page, name_protocol

_SOCKET, _SCENE, _SCENE_PAGE = "/console", "/scene", "/scene.html"
_SHARED = "/deadman.js", "/link.js", "/threaded_link.js", "/socket_worker.js"
_NO_SCENE = "no 3-D picture: expected viser, got none; pip install 'paprle[page]'"


class Opened(NamedTuple):
    """A served page; ``relay`` may be missing."""

    panel: Panel
    talk: Talk
    server: WebServer
    relay: Relay | None
    album: Album
    notes: list[str]


def make_site(
    config: ViewConfig, robot: RobotInfo, clock: Clock, before: Wishes, port: int
) -> Opened:
    """Return the served page."""
    place = find_place(config.listen)
    speeds = config.speed, config.turn_speed
    may_clear = not place.has_tls
    panel = Panel(robot, speeds, clock, may_clear=may_clear, side=config.levels)
    panel.resume(before)
    pages = dict(load_pages("paprle.observers.view"))
    shared = load_pages("paprle.hardware.web")
    pages |= {name: shared[name] for name in _SHARED}
    pages["/keys.js"] = make_key_table()
    framing = f"{POLICY}; frame-src 'self'"
    for name in ("/", "/index.html"):
        pages[name] = pages[name]._replace(policy=framing)
    scene = load_page() if config.scene else None
    talk = Talk(panel, clock, has_scene=scene is not None)
    album = talk.album = Album(lambda: talk.is_watched)
    talk.library = Library(pages, lambda: talk.is_watched)
    relay, notes = None, []
    site = Site(pages, {_SOCKET: talk.handle}, shared=[_SOCKET])
    if scene is not None:
        relay = Relay(talk.is_operator)
        pages[_SCENE_PAGE] = scene
        site = site._replace(
            sockets={**site.sockets, _SCENE: relay.handle},
            shared=[_SOCKET, _SCENE],
            framed=[_SCENE],
            protocols=[name_protocol()],
        )
    elif config.scene:
        notes.append(_NO_SCENE)
    server = WebServer(place, port, site, clock, before.key)
    context = None
    if place.has_tls:
        # loaded where it is needed alone: cryptography is large
        from paprle.hardware.web.serving.certificate import (  # noqa: PLC0415
            find_certificate,
            find_folder,
        )

        folder = Path(config.certificate or find_folder()).expanduser()
        certificate = find_certificate(folder, place.names)
        context = certificate.make_context()
        notes.append(
            "the browser warns once; the certificate's SHA-256 is "
            f"{certificate.fingerprint}"
        )
    server.open(context)
    return Opened(panel, talk, server, relay, album, notes)


def make_key_table() -> Page:
    """Return keys and buttons as a script."""
    # served with the page: its Stop stands there before any socket is open
    rows = [{**row._asdict(), "cap": row.cap} for row in PAGE_KEYS]
    script = f"export const KEYS = {json.dumps(rows)};\n"
    return Page(script.encode(), "text/javascript; charset=utf-8")
