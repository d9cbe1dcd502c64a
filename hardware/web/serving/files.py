"""Page files, as package data."""

from __future__ import annotations

import importlib.resources
from collections.abc import Iterator, Mapping
from pathlib import Path

from paprle.hardware.web.serving.server import Page

_KINDS = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}


def load_pages(package: str) -> Mapping[str, Page]:
    """Return a package's ``page`` files by path; ``/`` is the index."""
    pages = dict(_list_pages(package))
    pages["/"] = pages["/index.html"]
    return pages


def _list_pages(package: str) -> Iterator[tuple[str, Page]]:
    for file in (importlib.resources.files(package) / "page").iterdir():
        kind = _KINDS.get(Path(file.name).suffix)
        if kind is not None:
            yield f"/{file.name}", Page(file.read_bytes(), f"{kind}; charset=utf-8")
