"""Page for one operator."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from paprle.hardware.web.arbot import App
from paprle.hardware.web.conversation import Conversation, Told
from paprle.hardware.web.device import WebDevice
from paprle.hardware.web.errors import WebError
from paprle.hardware.web.pictures import SOCKET as _PICTURES
from paprle.hardware.web.pictures import PagePicture, Pictures
from paprle.hardware.web.presses import PressReader, Reading
from paprle.hardware.web.serving.addresses import find_place
from paprle.hardware.web.serving.certificate import (
    Certificate,
    find_certificate,
    find_folder,
)
from paprle.hardware.web.serving.files import load_pages
from paprle.hardware.web.serving.qr import draw_qr
from paprle.hardware.web.serving.server import Handler, Site, WebServer, listen_at
from paprle.hardware.web.settings import AppSettings, WebSettings

_TELL_NS = (
    10_000_000_000  # [ns] chosen: an attack is told, and does not fill the screen
)
_SOCKET = "/leader"
_PERMISSIONS = (
    "xr-spatial-tracking=(self), accelerometer=(self), gyroscope=(self), "
    "magnetometer=(self)"
)


class Station:
    """Page for one device."""

    def __init__(
        self,
        settings: WebSettings,
        kind: Literal["phone", "headset"],
        limbs: Sequence[str],
        clock: Callable[[], int],
    ) -> None:
        """Prepare it; ``limbs`` names its hands."""
        self._settings, self._kind, self._limbs = settings, kind, tuple(limbs)
        self._clock = clock
        self._app_settings: AppSettings | None = None
        self._begin()

    def _begin(self) -> None:
        self.device = WebDevice(self._limbs, self._clock)
        self.server: WebServer | None = None
        self._talk = Conversation(self.device, self._kind, self._limbs, self._clock)
        self._certificate: Certificate | None = None
        self._app: App | None = None
        self._presses = PressReader(self.device, self._clock)
        self._n_told, self._told_ns = 0, -_TELL_NS
        self._is_battery_told = self._is_end_told = False

    def open(
        self,
        app: AppSettings | None = None,
        find_picture: Callable[[], PagePicture | None] | None = None,
        *,
        turns_with_head: bool = False,
    ) -> None:
        """Serve the page, with app and pictures if given.

        Raises:
            WebError: Serving fails.
        """
        self._begin()
        settings = self._settings
        place = find_place(settings.listen)
        if place.has_tls:
            folder = Path(settings.certificate or find_folder()).expanduser()
            self._certificate = find_certificate(folder, place.names)
        beside = []
        self._app_settings = app
        if app is not None:
            self._app = App(app, self.device, self._limbs[0], self._clock)
            beside.append(self._app.open)
        sockets: dict[str, Handler] = {_SOCKET: self._talk.handle}
        if find_picture is not None:
            device = self.device
            pictures = Pictures(
                find_picture, lambda: device.clock, turns_with_head=turns_with_head
            )
            sockets[_PICTURES] = pictures.handle
            self._talk.has_pictures = True
        site = Site(
            load_pages("paprle.hardware.web"),
            sockets,
            _PERMISSIONS,
            beside,
        )
        server = WebServer(place, settings.port, site, self._clock)
        certificate = self._certificate
        server.open(None if certificate is None else certificate.make_context())
        self.server = server

    def diagnose(self) -> Iterator[tuple[bool, str]]:
        """Yield each step's success or remedy."""
        settings = self._settings
        try:
            place = find_place(settings.listen)
            yield True, f"it is reached at {place.address}"
            if place.has_tls:
                folder = Path(settings.certificate or find_folder()).expanduser()
                found = find_certificate(folder, place.names)
                yield True, f"certificate, SHA-256 {found.fingerprint}"
            else:
                yield True, "on this machine alone; leader.listen=lan for a network"
            with listen_at(place.address, settings.port) as listening:
                yield True, f"port {listening.getsockname()[1]} is free"
        except WebError as err:
            yield False, str(err)

    @property
    def address(self) -> str:
        """Address with its token."""
        if self.server is None:
            return ""
        return f"{self.server.address}#{self.server.door.token}"

    @property
    def notes(self) -> list[str]:
        """Ways to the page."""
        server, app = self.server, self._app_settings
        if server is None:
            return []
        lines = [f"open {self.address}"]
        if self._certificate is None:
            lines.append(
                f"on a phone on a cable, after: adb reverse tcp:{server.port} "
                f"tcp:{server.port}"
            )
        else:
            lines.append(
                "the browser warns once; the certificate's SHA-256 is "
                f"{self._certificate.fingerprint}"
            )
            lines.append("\n" + "\n".join(draw_qr(self.address)))
        if app is not None:
            lines.append(
                f"ARBot's app: ws://{app.address}:{app.port}, from {app.phone} alone, "
                "without TLS: anybody on this network can read it"
            )
        return lines

    def read(self) -> Reading | None:
        """Return the newest reading, or None."""
        return self._presses.read()

    def tell(self, told: Told) -> None:
        """Set the page's status."""
        self._talk.told = told

    def take_warnings(self) -> list[str]:
        """Return refusals and a low battery."""
        warnings = []
        n, now_ns = self._count_refused(), self._clock()
        if n > self._n_told and now_ns - self._told_ns > _TELL_NS:
            why = ", ".join(f"{k}: {v}" for k, v in self._list_refused().items())
            warnings.append(f"the page refused somebody ({why})")
            self._n_told, self._told_ns = n, now_ns
        if self.server is not None and self.server.has_ended and not self._is_end_told:
            self._is_end_told = True
            warnings.append("the page's server has ended; start the session again")
        if self.device.is_battery_low and not self._is_battery_told:
            self._is_battery_told = True
            warnings.append(
                f"its battery is at {100 * (self.device.battery or 0):.0f} %"
            )
        return warnings

    @property
    def closing_notes(self) -> list[str]:
        """Counts and delays."""
        device = self.device
        if not device.n_messages and not device.refused:
            return []
        lines = [f"{device.n_messages} messages, {device.n_jumps} jumps"]
        best = device.clock.offset
        if device.delays and best is not None:
            p50, p99 = find_percentiles(list(device.delays))
            lines.append(
                f"capture to arrival {1e3 * p50:.1f} ms, p99 {1e3 * p99:.1f} ms; its "
                f"clock is known to {1e-6 * best.bound_ns:.1f} ms"
            )
        refused = {**self._list_refused(), **device.refused}
        if refused:
            lines.append(
                "refused: " + ", ".join(f"{k} {v}" for k, v in refused.items())
            )
        return lines

    def close(self) -> None:
        """Stop serving."""
        if self.server is not None:
            self.server.close()

    def _list_refused(self) -> dict[str, int]:
        counts = {} if self.server is None else dict(self.server.door.refused)
        if self._app is not None and self._app.n_refused:
            counts["app"] = self._app.n_refused
        return counts

    def _count_refused(self) -> int:
        return sum(self._list_refused().values())


def find_percentiles(values: list[float]) -> tuple[float, float]:
    """Return the median and the 99th percentile."""
    values = sorted(values)
    return values[len(values) // 2], values[math.ceil(0.99 * len(values)) - 1]
