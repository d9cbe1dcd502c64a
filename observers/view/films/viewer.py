"""Viewer page."""

from __future__ import annotations

import html
import json
import math
import secrets
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs

import numpy as np
import numpy.typing as npt

from paprle.contracts.errors import PaprleError
from paprle.contracts.film import RecordingList
from paprle.hardware.web.serving.addresses import find_place
from paprle.hardware.web.serving.files import load_pages
from paprle.hardware.web.serving.server import POLICY, Page, Site, WebServer
from paprle.observers.view.films.open_films import OpenFilms
from paprle.observers.view.films.reduction import reduce
from paprle.observers.view.films.robot_scene import RobotScene
from paprle.observers.view.observer import find_port
from paprle.observers.view.thumbnails import encode, shrink
from paprle.observers.view.viser_proxy import Relay, load_page, name_protocol

_WIDEST = 1280  # [px] chosen: of a picture; more is seen nowhere on a page
_STILL = 240  # [px] chosen: of a list
_N_POINTS = 1500  # chosen: of a signal; more cannot be told apart across a screen
_DIGITS = 5  # chosen: a hundredth of a milliradian
_LISTENING = "usb"  # this machine alone
_SCENE, _SCENE_PAGE, _FILMS = "/scene", "/scene.html", "film"
_JSON, _HTML = "application/json", "text/html; charset=utf-8"
_REPORT_POLICY = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
"""A report may come from anybody: nothing of it runs or loads."""
_SHARED = {
    "paprle.observers.view": ("/style.css", "/elements.js", "/pace.js", "/picture.js"),
    "paprle.hardware.web": ("/link.js",),
}
"""Files of the session's page that this one uses, too."""


class Viewer:
    """One page for listed recordings."""

    def __init__(
        self,
        listed: RecordingList,
        clock: Callable[[], int],
        port: int,
        begin: float = 0.0,
    ) -> None:
        """Begin the first film at ``begin``, [s]."""
        self.address = ""
        self._token = secrets.token_urlsafe(16)
        self._listed, self._clock, self._port = listed, clock, port
        self._begin = begin if math.isfinite(begin) else 0.0
        self._relay = Relay(lambda _: False)
        self._warnings: list[str] = []
        self._scene = RobotScene(self._relay, self._warnings.append)
        self._films = OpenFilms(listed)
        self._stills: dict[int, bytes] = {}
        self._server: WebServer | None = None
        self._has_scene = False

    def open(self) -> None:
        """Listen.

        Raises:
            WebError: If nothing can listen.
        """
        pages = _load_pages()
        scene = load_page()
        self._has_scene = scene is not None
        site = Site(pages, {}, makers={_FILMS: self._make})
        if scene is not None:
            pages[_SCENE_PAGE] = scene
            site = site._replace(
                sockets={_SCENE: self._relay.handle},
                shared=[_SCENE],
                framed=[_SCENE],
                protocols=[name_protocol()],
            )
        place, port = find_place(_LISTENING), find_port(self._port)
        self._server = WebServer(place, port, site, self._clock, self._token)
        self._server.open(None)
        self.address = f"{self._server.address}#{self._token}"

    def take_warnings(self) -> Sequence[str]:
        """Return new failures, once."""
        told, self._warnings[:] = list(self._warnings), []
        return told

    def close(self) -> None:
        """Stop serving."""
        if self._server is not None:
            self._server.close()
        self._scene.close()
        self._films.close()

    def _make(self, asked: str) -> Page | None:
        """Return a page, from any thread."""
        path, _, query = asked.partition("?")
        words = {name: values[-1] for name, values in parse_qs(query).items()}
        answer = {
            "list": self._describe_list,
            "still": self._draw_still,
            "open": self._open_film,
            "signal": self._read_signal,
            "picture": self._draw_picture,
            "move": self._move,
            "report": self._show_report,
        }.get(path)
        if answer is None:
            return None
        try:
            return answer(words)
        except PaprleError as err:
            return _give({"error": str(err)})
        except (KeyError, ValueError, IndexError):
            return None  # not an address of our page

    def _describe_list(self, _: Mapping[str, str]) -> Page:
        entries = [
            {**one._asdict(), "seconds": _finite(one.seconds, 2)}
            for one in self._listed.entries
        ]
        reports = [one._asdict() for one in self._listed.list_reports()]
        told = {"title": self._listed.title, "begin": self._begin, "entries": entries}
        return _give({**told, "reports": reports})

    def _show_report(self, words: Mapping[str, str]) -> Page:
        """Return a report whose moments are links into the page."""
        body = self._listed.read_report(words["name"], self._link)
        return Page(body.encode(), _HTML, _REPORT_POLICY)

    def _link(self, film: int, t: float) -> str:
        where = html.escape(f"/#{self._token}&film={film}&t={t:.1f}")
        return f'<a href="{where}">open at {t:.1f} s</a> '

    def _draw_still(self, words: Mapping[str, str]) -> Page:
        k = self._find_entry(words)
        if k not in self._stills:
            found = self._listed.find_still(k)
            pixels = None if found is None else shrink(*found, _STILL)
            self._stills[k] = b"" if pixels is None else encode(pixels)
        return Page(self._stills[k], "image/jpeg")

    def _open_film(self, words: Mapping[str, str]) -> Page:
        k = self._find_entry(words)
        share = self._films.ask(k)
        if share is not None:
            return _give({"share": round(share, 3)})
        with self._films.use(k) as film:
            has_scene = self._has_scene and self._scene.put(film)
            return _give(
                {
                    "name": film.name,
                    "length": film.length,
                    "scene": has_scene,
                    "robot": film.robot is not None,
                    "cameras": list(film.cameras),
                    "signals": [one._asdict() for one in film.signals],
                    "marks": [one._asdict() for one in film.marks],
                    "notes": list(film.notes),
                }
            )

    def _read_signal(self, words: Mapping[str, str]) -> Page:
        k, begin, end = int(words["k"]), float(words["from"]), float(words["to"])
        with self._films.use(self._find_entry(words)) as film:
            if not 0 <= k < len(film.signals):
                raise IndexError(k)
            t, values = reduce(*film.read_signal(k), begin, end, _N_POINTS)
        return _give({"t": _round(t), "values": _round(values)})

    def _draw_picture(self, words: Mapping[str, str]) -> Page:
        camera, t = words["camera"], float(words["t"])
        wide = min(int(words["w"]), _WIDEST)
        if not (math.isfinite(t) and wide > 0):
            raise ValueError(words)
        with self._films.use(self._find_entry(words)) as film:
            info = film.cameras[camera]
            frame = film.see(camera, t)
        pixels = None if frame is None else shrink(frame, info, wide)
        return Page(b"" if pixels is None else encode(pixels), "image/jpeg")

    def _move(self, words: Mapping[str, str]) -> Page:
        t = float(words["t"])
        with self._films.use(self._find_entry(words)) as film:
            if film.robot is None or not math.isfinite(t):
                raise ValueError(t)
            return _give(self._scene.move(film, min(max(t, 0.0), film.length)))

    def _find_entry(self, words: Mapping[str, str]) -> int:
        k = int(words["film"])
        if not 0 <= k < len(self._listed.entries):
            raise IndexError(k)
        return k


def _load_pages() -> dict[str, Page]:
    pages = dict(load_pages("paprle.observers.view.films"))
    for package, names in _SHARED.items():
        pages |= {name: load_pages(package)[name] for name in names}
    framing = f"{POLICY}; frame-src 'self'"
    for name in ("/", "/index.html"):
        pages[name] = pages[name]._replace(policy=framing)
    return pages


def _give(values: Mapping[str, Any]) -> Page:
    return Page(json.dumps(values, allow_nan=False).encode(), _JSON)


def _finite(value: float, digits: int) -> float | None:
    return round(value, digits) if math.isfinite(value) else None


def _round(values: npt.NDArray[np.float64]) -> list[float | None]:
    return [_finite(value, _DIGITS) for value in values.tolist()]
