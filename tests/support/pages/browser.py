"""A headless browser that looks at a page of the product."""

from __future__ import annotations

import io
import os
import shutil
import time
from contextlib import contextmanager

import numpy as np
import pytest
from PIL import Image

_SOFTWARE = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-sandbox")
_NAMES = ("chromium", "chromium-browser", "google-chrome")


def find_browser():
    """Where a browser is; skips where there is none and none is required."""
    path = next(filter(None, map(shutil.which, _NAMES)), None)
    if path is None:
        assert not os.environ.get("REQUIRE_BROWSER"), f"none of {', '.join(_NAMES)}"
        pytest.skip(f"no browser: none of {', '.join(_NAMES)}")
    return path


class Page:
    """One page, and what its browser said of it."""

    def __init__(self, page):
        self.page = page
        self.errors, self.elsewhere = [], []
        page.on("console", self._note)
        page.on("pageerror", lambda err: self.errors.append(str(err)))
        page.on("request", self._look)

    def open(self, address, timeout=60.0):
        """Open an address, which may not be served yet."""
        end = time.monotonic() + timeout
        while True:
            try:
                self.page.goto(address)
                break
            except Exception:
                if time.monotonic() > end:
                    raise
                time.sleep(0.2)
        self.errors.clear()

    def shoot(self, path=None):
        """Return what is seen, shape (height, width, 3), 0 … 255."""
        data = self.page.screenshot(path=path, timeout=60_000)
        return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"), dtype=int)

    def _note(self, message):
        if message.type == "error":
            self.errors.append(message.text)

    def _look(self, request):
        if "127.0.0.1" not in request.url and not request.url.startswith(
            ("data:", "blob:")
        ):
            self.elsewhere.append(request.url)


@contextmanager
def open_browser(width=900, height=640, **options):
    """Yield a page of a headless browser; options are those of its new page."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415

    path = find_browser()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(_SOFTWARE))
        try:
            viewport = {"width": width, "height": height}
            yield Page(browser.new_page(viewport=viewport, **options))
        finally:
            browser.close()
