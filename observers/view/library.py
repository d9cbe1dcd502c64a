"""Strips and reports of recordings."""

from __future__ import annotations

import json
import secrets
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from pathlib import Path
from typing import Any

from paprle.hardware.web.serving.server import Page

_STRIP = ("-m", "paprle.recording.video.thumbnail_strip")
_CLI = "import sys; from paprle.cli import main; sys.exit(main())"
_EVALUATE = ("-c", _CLI, "evaluate")
_FOLDER = Path(__file__).absolute().parents[3]
_POLICY = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
_LONGEST = 1800.0  # [s] chosen: evaluating two hours takes minutes, on a busy machine
_LOOK = 0.5  # [s] chosen: how often it looks for work
_MOST = 8  # chosen: reports at once; one is some MB
_LARGEST = 64 << 20  # [bytes] chosen: of a report; ours are a few MB
Strips = list[dict[str, Any]]


class Library:
    """Makes strips and reports of episodes."""

    def __init__(
        self, pages: MutableMapping[str, Page], is_watched: Callable[[], bool]
    ) -> None:
        self.strips: dict[str, Strips] = {}
        self.reports: dict[str, dict[str, str]] = {}
        self._pages, self._is_watched = pages, is_watched
        self._paths: dict[str, Path] = {}
        self._asked: list[str] = []
        self._served: list[str] = []
        self._is_calm = False
        self._stop = threading.Event()
        self._child: subprocess.Popen[bytes] | None = None
        self._thread: threading.Thread | None = None

    def take(self, episodes: Sequence[Mapping[str, Any]], *, is_calm: bool) -> None:
        """Set the episodes and the robot's idleness."""
        self._is_calm = is_calm
        self._paths = {Path(one["path"]).stem: Path(one["path"]) for one in episodes}
        if self._paths and self._thread is None and not self._stop.is_set():
            self._thread = threading.Thread(
                target=self._run, name="library", daemon=True
            )
            self._thread.start()

    def ask(self, name: str) -> str:
        """Request a report; return a refusal's reason."""
        if name not in self._paths:
            return "no such episode in this session"
        if name in self._asked:
            return "it is being made"
        self.reports[name] = {"state": "being made …"}
        self._asked.append(name)
        return ""

    def close(self) -> None:
        """Stop."""
        self._stop.set()
        child = self._child
        if child is not None:
            child.kill()

    def _run(self) -> None:
        while not self._stop.wait(_LOOK):
            if self._asked:
                name = self._asked[0]
                self.reports[name] = self._make_report(self._paths[name])
                self._asked.pop(0)
            elif self._is_calm and self._is_watched():
                new = [n for n in reversed(self._paths) if n not in self.strips]
                if new:
                    self.strips[new[0]] = self._make_strips(self._paths[new[0]])

    def _make_strips(self, path: Path) -> Strips:
        code, out, _ = self._call(*_STRIP, str(path.with_suffix(".mcap")))
        return [json.loads(line) for line in out.splitlines()] if code == 0 else []

    def _make_report(self, path: Path) -> dict[str, str]:
        page = path.with_name(f"{path.stem}.report.html")
        if not page.is_file():
            recording = str(path.with_suffix(".mcap"))
            _, _, told = self._call(*_EVALUATE, recording)
            if not page.is_file():
                lines = told.decode("utf-8", "replace").splitlines()
                return {"state": f"no report: {lines[-1] if lines else 'it was ended'}"}
        try:
            if page.stat().st_size > _LARGEST:
                return {"state": f"no report here: it is too large; open {page}"}
            return {"address": self._serve(page.read_bytes())}
        except OSError as err:
            return {"state": f"no report: {err}"}

    def _serve(self, body: bytes) -> str:
        address = f"/report-{secrets.token_urlsafe(16)}.html"
        self._pages[address] = Page(body, "text/html; charset=utf-8", _POLICY)
        self._served.append(address)
        while len(self._served) > _MOST:
            gone = self._served.pop(0)
            self._pages.pop(gone)
            kept = self.reports.items()
            self.reports = {n: r for n, r in kept if gone not in r.values()}
        return address

    def _call(self, *words: str) -> tuple[int, bytes, bytes]:
        try:
            self._child = subprocess.Popen(
                ["nice", "-n", "19", sys.executable, *words],
                cwd=_FOLDER,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except OSError as err:
            return 1, b"", str(err).encode()
        try:
            if self._stop.is_set():  # it was closed meanwhile
                self._child.kill()
            out, told = self._child.communicate(timeout=_LONGEST)
        except subprocess.TimeoutExpired:
            self._child.kill()
            out, told = self._child.communicate()
        return self._child.returncode, out, told
