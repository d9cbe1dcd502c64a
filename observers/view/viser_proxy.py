"""Relay of the scene to viser on the page's port.

viser checks neither token nor Origin: on loopback it serves only this relay, which
sends a secret WebSocket header; pages pass the page server's checks.
"""

from __future__ import annotations

import asyncio
import gzip
import importlib.metadata
import importlib.util
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.typing import Subprotocol

from paprle.hardware.web.client import Client
from paprle.hardware.web.errors import WebError
from paprle.hardware.web.serving.server import Page

_HEADER, _SOFTWARE = "X-Paprle-Relay", "X-Paprle-Software"
_DRAGGED = b"TransformControls"
_POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; "
    "style-src 'self' 'unsafe-inline'; connect-src 'self' blob: data:; "
    "img-src 'self' data: blob:; font-src data: blob:; worker-src blob:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
"""Needs of viser's page, one file that unpacks itself; nothing from elsewhere."""
_HIDDEN = (
    b"<style>.mantine-Paper-root,.mantine-Notifications-root{display:none!important}"
    b"</style>"
)
"""Its panel and notices, which cover our buttons; the panel shows the token."""
_STAYING = (
    b"<script>document.hasFocus=()=>parent.document.body.dataset.link==='open'</script>"
)
"""It looks for its server again only with the focus, which our page has: as long as
that page is connected, so that an old page does not show its old token for ever."""
_PACED = b'<script src="pace.js"></script>'
_REFUSED = 1008  # spec: RFC 6455, policy violation


def load_page() -> Page | None:
    """Return viser's page without its import, or None."""
    spec = importlib.util.find_spec("viser")
    if spec is None or spec.origin is None:
        return None
    path = Path(spec.origin).parent / "client/build/index.html"
    text = path.read_bytes().replace(b"<head>", b"<head>" + _PACED, 1)
    text = text.replace(b"</head>", _HIDDEN + _STAYING + b"</head>", 1)
    body = gzip.compress(text, compresslevel=5)
    return Page(body, "text/html; charset=utf-8", _POLICY, "gzip")


def name_protocol() -> str:
    """Return viser's subprotocol."""
    return f"viser-v{importlib.metadata.version('viser')}"


class Relay:
    """Relays bytes between pages and viser."""

    def __init__(self, may_drag: Callable[[str], bool]) -> None:
        self._secret = secrets.token_urlsafe(32)
        self._port = 0
        self._may_drag = may_drag

    def guard(self, server: Any) -> None:
        """Restrict a server to this relay.

        Raises:
            WebError: If this is impossible.
        """
        # viser has no public hook that sees a handshake; where its inside is another,
        # there is no picture rather than an open door
        inside: Any = getattr(server, "_websock_server", None)
        callbacks = getattr(inside, "_client_connect_cb", None)
        if callbacks is None or not hasattr(inside, "_live_connections"):
            raise WebError(f"expected the inside of viser 1.1, got {name_protocol()}")

        async def refuse_others(client: Any) -> None:
            connection = inside._live_connections[client.client_id]  # noqa: SLF001 - see above
            shown = connection.request.headers.get(_HEADER, "")
            if not secrets.compare_digest(shown, self._secret):
                await connection.close(_REFUSED, "not here")

        def cast_shadows(client: Any) -> None:
            connection = inside._live_connections.get(client.client_id)  # noqa: SLF001 - see above
            if connection and _SOFTWARE not in connection.request.headers:
                client.scene.configure_default_lights(cast_shadow=True)

        server.on_client_connect(cast_shadows)
        callbacks.insert(0, refuse_others)
        self._port = int(server.get_port())

    async def handle(self, client: Client) -> None:
        """Relay a page until either side closes."""
        page, _, renderer = client.query.partition("&")
        headers = {_HEADER: self._secret}
        if renderer == "software":  # the browser draws on the processor
            headers[_SOFTWARE] = renderer
        try:
            async with connect(
                f"ws://127.0.0.1:{self._port}",
                subprotocols=[Subprotocol(name_protocol())],
                additional_headers=headers,
                compression=None,
                max_size=None,
                proxy=None,
            ) as scene:
                both = [
                    asyncio.create_task(self._carry_up(client, scene, page)),
                    asyncio.create_task(_carry_down(scene, client)),
                ]
                await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
                for task in both:
                    task.cancel()
                await asyncio.gather(*both, return_exceptions=True)
        except (OSError, InvalidHandshake):
            return  # there is no scene yet, or no more

    async def _carry_up(
        self, client: Client, scene: ClientConnection, page: str
    ) -> None:
        async for data in client.listen():
            if (
                isinstance(data, bytes)
                and _DRAGGED in data
                and not self._may_drag(page)
            ):
                continue
            await scene.send(data)


async def _carry_down(scene: ClientConnection, client: Client) -> None:
    try:
        async for data in scene:
            if not await client.send(data):
                return
    except ConnectionClosed:
        return
