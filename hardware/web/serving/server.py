"""Server thread of a page.

A socket's token is a subprotocol, as addresses are logged.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import ssl
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, NamedTuple

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.datastructures import Headers, MultipleValuesError
from websockets.http11 import Request, Response
from websockets.protocol import State
from websockets.typing import Subprotocol

from paprle.hardware.web.client import Client
from paprle.hardware.web.errors import WebError
from paprle.hardware.web.messages import MAX_BYTES
from paprle.hardware.web.serving.access import Door, Refusal
from paprle.hardware.web.serving.addresses import ListenAddress

PROTOCOL = "paprle"
"""Subprotocol of every socket; the token is the second one that is offered."""
_N_PORTS = 8  # chosen: leaders beside each other on one machine
_MOST_CONNECTIONS = 24  # chosen: a browser opens six for a page, and there may be two
_MOST_HALF_OPEN = 32  # chosen: several browsers at once, each for one round trip
_OPENING = 3.0  # [s] chosen: who takes longer over a handshake is cut off
_CLOSING = 1.0  # [s] chosen: nobody waits longer for a farewell
_PING = 1.0  # [s] chosen: frees what a phone that is gone holds; age stops a robot
_PONG = 5.0  # [s] chosen: a page that was put aside may come back
_STARTING = 10.0  # [s] chosen: a port takes a hundredth of it

Handler = Callable[[Client], Awaitable[None]]
Opener = Callable[[], Awaitable[Server]]


POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src 'self' data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
"""Sources from which a page may load: its own files."""


class Page(NamedTuple):
    """A served file.

    Attributes:
        kind: Content type.
    """

    body: bytes
    kind: str
    policy: str = POLICY
    encoding: str = ""


class Site(NamedTuple):
    """A server's content.

    Attributes:
        pages: Files by path.
        sockets: Handlers by path.
        beside: Servers in the same thread.
        shared: Sockets for several clients.
        framed: Foreign pages' sockets, with the token as last part.
        protocols: Of those pages.
        makers: By an address's first part, before the token; one gets the rest, in any
            thread, and may return None.
    """

    pages: Mapping[str, Page]
    sockets: Mapping[str, Handler]
    permissions: str = ""
    beside: Sequence[Opener] = ()
    shared: Sequence[str] = ()
    framed: Sequence[str] = ()
    protocols: Sequence[str] = ()
    makers: Mapping[str, Callable[[str], Page | None]] = MappingProxyType({})


class WebServer:
    """Server of a site.

    Attributes:
        door: Once open.
        port: Once open.
    """

    def __init__(
        self,
        place: ListenAddress,
        port: int,
        site: Site,
        clock: Callable[[], int],
        token: str = "",
    ) -> None:
        """Prepare it; ``port`` is the first to try."""
        self.place, self.port = place, port
        self._site, self._clock, self._token = site, clock, token
        self.door = Door({}, clock)
        self._claims: dict[str, tuple[ServerConnection, Client]] = {}
        self._turns: dict[str, asyncio.Lock] = {}
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._ready = threading.Event()
        self._failure: BaseException | None = None

    @property
    def address(self) -> str:
        """Address for a browser."""
        return f"{self._scheme}://{self.place.address}:{self.port}/"

    @property
    def has_ended(self) -> bool:
        """Whether it ended without ``close``."""
        return self._thread is not None and not self._thread.is_alive()

    @property
    def _scheme(self) -> str:
        return "https" if self.place.has_tls else "http"

    def open(self, context: ssl.SSLContext | None) -> None:
        """Listen, with TLS if there is a context.

        Raises:
            WebError: Nothing can listen there.
        """
        if self.place.has_tls != (context is not None):
            raise WebError("server: expected TLS on a network, and only there")
        listening = listen_at(self.place.address, self.port)
        self.port = listening.getsockname()[1]
        hosts = [f"{name}:{self.port}" for name in self.place.names]
        self.door = Door(
            {host: f"{self._scheme}://{host}" for host in hosts},
            self._clock,
            self._token,
        )
        self._ready.clear()
        self._failure = None
        self._thread = threading.Thread(
            target=self._run, args=(listening, context), name="web"
        )
        self._thread.start()
        if not self._ready.wait(_STARTING) or self._failure is not None:
            self.close()
            raise WebError(
                f"server: expected to start, got {self._failure or 'nothing'}"
            )

    def close(self) -> None:
        """Stop serving."""
        loop, stop = self._loop, self._stop
        if loop is not None and stop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(stop.set)
        if self._thread is not None:
            self._thread.join(_STARTING)
            self._thread = None

    def _run(self, listening: socket.socket, context: ssl.SSLContext | None) -> None:
        try:
            asyncio.run(self._serve(listening, context))
        except (OSError, WebError) as err:
            self._failure = err
        finally:
            listening.close()
            self._ready.set()

    async def _serve(
        self, listening: socket.socket, context: ssl.SSLContext | None
    ) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        self._claims.clear()
        self._turns = {path: asyncio.Lock() for path in self._site.sockets}
        self._loop.set_exception_handler(_ignore)
        beside = [await opener() for opener in self._site.beside]
        try:
            async with serve(
                self._host,
                sock=listening,
                ssl=context,
                process_request=self._answer,
                subprotocols=[
                    Subprotocol(name) for name in (PROTOCOL, *self._site.protocols)
                ],
                ssl_handshake_timeout=_OPENING if context is not None else None,
                **OPTIONS,
            ):
                self._ready.set()
                await self._stop.wait()
        finally:
            for other in beside:
                other.close()
                await other.wait_closed()

    async def _answer(
        self, connection: ServerConnection, request: Request
    ) -> Response | None:
        maker = self._site.makers.get(request.path.lstrip("/").partition("/")[0])
        if maker is not None:
            return await self._make_page(maker, connection, request)
        return self._admit(connection, request)

    async def _make_page(
        self,
        maker: Callable[[str], Page | None],
        connection: ServerConnection,
        request: Request,
    ) -> Response:
        _, _, token, rest = (*request.path.split("/", 3), "", "")[:4]
        try:
            refusal = self.door.check_host(request.headers.get("Host"))
        except MultipleValuesError:
            refusal = Refusal(400, "header")
        refusal = refusal or self.door.check_token(token, name_peer(connection))
        page = None if refusal else await asyncio.to_thread(maker, rest)
        return self._give(page, refusal)

    def _admit(self, connection: ServerConnection, request: Request) -> Response | None:
        path, key = self._split(request.path)
        try:
            host = request.headers.get("Host")
            origin = request.headers.get("Origin")
            offered = request.headers.get("Sec-WebSocket-Protocol", "")
        except MultipleValuesError:
            return _refuse(Refusal(400, "header"))
        if path not in self._site.sockets:
            return self._find_page(path, self.door.check_host(host))
        token = offered.rpartition(",")[2].strip() if key is None else key
        refusal = self.door.admit(host, origin, token, name_peer(connection))
        is_shared = path in self._site.shared
        if refusal is None and not is_shared and self._is_taken(path):
            refusal = self.door.refuse_busy()
        if refusal is not None:
            return _refuse(refusal)
        if is_shared:
            return None
        before = self._claims.get(path)
        if before is not None:
            before[1].cut()
        self._claims[path] = connection, Client(connection, self._clock)
        return None

    def _split(self, asked: str) -> tuple[str, str | None]:
        path = asked.partition("?")[0]
        head, _, tail = path.rpartition("/")
        return (head, tail) if head in self._site.framed else (path, None)

    def _find_page(self, path: str, refusal: Refusal | None) -> Response:
        return self._give(self._site.pages.get(path), refusal)

    def _give(self, page: Page | None, refusal: Refusal | None) -> Response:
        if refusal is not None or page is None:
            return _refuse(refusal or Refusal(404, "path"))
        headers = Headers(
            {
                "Content-Type": page.kind,
                "Content-Length": str(len(page.body)),
                "Connection": "close",
                "Cache-Control": "no-store",
                "Content-Security-Policy": page.policy,
                "Permissions-Policy": self._site.permissions,
                "Referrer-Policy": "no-referrer",
                "X-Content-Type-Options": "nosniff",
            }
        )
        if page.encoding:
            headers["Content-Encoding"] = page.encoding
        if not page.body:
            return Response(204, "No Content", headers)
        return Response(200, "OK", headers, page.body)

    def _is_taken(self, path: str) -> bool:
        held = self._claims.get(path)
        if held is None or held[0].state is State.CLOSED:
            return False
        return not held[1].is_silent

    async def _host(self, connection: ServerConnection) -> None:
        path, _ = self._split(
            "" if connection.request is None else connection.request.path
        )
        if path in self._site.shared:
            await self._site.sockets[path](Client(connection, self._clock))
            return
        async with self._turns[path]:
            held, client = self._claims[path]
            if held is connection:  # and nobody else came in the meantime
                await self._site.sockets[path](client)


class _Connection(ServerConnection):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Abort the busiest address's oldest handshake above the limit."""
        super().connection_made(transport)
        there = [one for one in self.server.handlers if not one.transport.is_closing()]
        half_open = [one for one in there if one.state is State.CONNECTING]
        if len(there) - len(half_open) > _MOST_CONNECTIONS:
            self.transport.abort()
        elif len(half_open) > _MOST_HALF_OPEN:
            counts = Counter(map(name_peer, half_open))
            most = max(counts.values())
            oldest = next(one for one in half_open if counts[name_peer(one)] == most)
            oldest.transport.abort()


_LOG = logging.getLogger("paprle.web")
_LOG.setLevel(logging.CRITICAL + 1)  # strangers would fill the operator's screen

OPTIONS: Mapping[str, Any] = {
    "create_connection": _Connection,
    "logger": _LOG,
    "compression": None,  # spec: safety.md 9.6: 1 kB of it may say 1 MB
    "max_size": MAX_BYTES,
    "open_timeout": _OPENING,
    "close_timeout": _CLOSING,
    "ping_interval": _PING,
    "ping_timeout": _PONG,
    "server_header": None,
}
"""Options of every listener."""


def listen_at(address: str, first: int, n_ports: int = _N_PORTS) -> socket.socket:
    """Return a socket on the first free port of ``n_ports``; 0: any.

    Raises:
        WebError: None free.
    """
    for port in range(first, first + (n_ports if first else 1)):
        try:
            return socket.create_server((address, port))
        except OSError as err:
            if err.errno != errno.EADDRINUSE:
                raise WebError(
                    "listen: expected an address of this machine, got "
                    f"{address}:{port} ({err.strerror})"
                ) from err
    raise WebError(
        f"port: expected a free one from {first} to {first + n_ports - 1} at "
        f"{address}, got none; end what uses them, or choose another"
    )


def name_peer(connection: ServerConnection) -> str:
    """Return a client's address."""
    peer = connection.remote_address
    return str(peer[0]) if peer else ""


def _refuse(refusal: Refusal) -> Response:
    status = HTTPStatus(refusal.status)
    body = f"{status.value} {status.phrase}\n".encode()
    headers = Headers(
        {
            "Content-Type": "text/plain",
            "Content-Length": str(len(body)),
            "Connection": "close",
        }
    )
    return Response(status.value, status.phrase, headers, body)


def _ignore(_: asyncio.AbstractEventLoop, __: dict[str, Any]) -> None:
    """Ignore broken TLS handshakes."""
