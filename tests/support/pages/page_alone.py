"""A page without a session: a view that is told the same again and again."""

import threading
import time
from contextlib import contextmanager

from browser import find_browser, open_browser

from paprle.observers.view.config import ViewConfig
from paprle.observers.view.observer import View, find_port
from paprle.testing.views import make_session_view

_PERIOD = 0.05  # [s] of what a session says


class PageAlone:
    """Somebody at the page.

    Attributes:
        view: What serves it.
        browser: What shows it.
        page: Of the browser.
        key: Its keyboard.
    """

    def __init__(self, view, browser):
        self.view, self.browser = view, browser
        self.page, self.key = browser.page, browser.page.keyboard

    def describe(self):
        """Return what the session says, as fields of its view."""
        raise NotImplementedError

    def speak(self):
        """Have the session say it once."""
        now_ns = time.monotonic_ns()
        self.view.observe(make_session_view(self.view.robot, now_ns, **self.describe()))


@contextmanager
def show_view(robot, port, **config):
    """Yield a view of a robot and its page, which may not complain; no scene."""
    find_browser()
    settings = ViewConfig(port=find_port(port), scene=False, **config)
    view = View(settings, robot, time.monotonic_ns)
    view.open()
    try:
        with open_browser() as browser:
            browser.open(view.notes[0].removeprefix("open "))
            yield view, browser.page
            assert browser.errors == []
    finally:
        view.close()


@contextmanager
def serve_alone(kind, robot, port):
    """Yield a page of this kind that operates; its browser may not complain."""
    find_browser()
    config = ViewConfig(port=find_port(port), scene=False)
    view, over = View(config, robot, time.monotonic_ns), threading.Event()
    view.open()
    try:
        with open_browser() as browser:
            made = kind(view, browser)

            def go_on():
                while not over.wait(_PERIOD):
                    made.speak()

            session = threading.Thread(target=go_on)
            session.start()
            browser.open(view.notes[0].removeprefix("open "))
            browser.page.locator("#hold:enabled").wait_for(timeout=30_000)
            yield made
            over.set()
            session.join()
            assert browser.errors == []
    finally:
        over.set()
        view.close()
