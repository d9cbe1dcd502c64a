"""The page in every situation of a session: a view without a session shows them."""

from __future__ import annotations

import re
import threading
import time
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from browser import find_browser, open_browser

from paprle.contracts.images import Frame
from paprle.contracts.settings.camera import CameraSettings
from paprle.contracts.types import GateState, SessionState
from paprle.observers.view.config import ViewConfig
from paprle.observers.view.observer import View, find_port
from paprle.testing.views import make_session_view

_PERIOD = 0.05  # [s] of what a session says
_CAMERAS = {
    name: CameraSettings(fps=30.0).make_info(160, 120, "rgb8")
    for name in ("front", "wrist")
}
_CAUSE = "arm stands: 'link3' of arm is kept clear of 'link5' of arm"
_SECOND = "gripper stands: something blocks it"
_STOPPED = "lag (the robot stays behind); look whether something holds it"
_CUT_LINK = """() => window.workers.forEach((one) => {
  one.terminate();
  one.onmessage({ data: { event: "close", reason: "" } });
})"""
_KEEP_WORKERS = """
window.workers = [];
const Made = window.Worker;
window.Worker = class extends Made {
  constructor(...words) { super(...words); window.workers.push(this); }
};
"""
_EPISODES = (
    ("success", 12.4, "put the cup into the bin", ("touch tip", "it slipped once")),
    ("kept", 8.0, "", ()),
    ("discarded", 3.2, "put the cup into the bin", ("the gripper did not close",)),
)


class Situation(NamedTuple):
    """A state of a session, as its view and its news have it.

    ``shows`` is what the page shows then: a word, or a selector after ``$``.
    """

    shows: str
    state: SessionState
    news: dict[str, Any]
    fields: dict[str, Any]
    does: tuple[str, ...] = ()


def _situate(shows, state, *does, fields=None, **news):
    return Situation(shows, state, news, fields or {}, does)


_S = SessionState
SITUATIONS = {
    "ready": _situate(
        "Ready", _S.WAITING,
        note="hold the page's button (m), or press Enter to start",
    ),
    "driving": _situate("Driving", _S.ENGAGED, "hold", seconds=3, recording="REC"),
    "paused": _situate(
        "Paused", _S.CLUTCHED, seconds=9, recording="REC",
        note="paused; hold the page's button (m), or press Enter to go on",
    ),
    "stopped": _situate(
        "Stopped", _S.STOPPED,
        fields={"gate_state": GateState.STOPPED, "latched": _STOPPED},
    ),
    "recording": _situate(
        "$#rec:has-text('REC 12 s')", _S.ENGAGED, "hold", "reports", seconds=12,
        recording="REC", episode="ep 4", task="put the cup into the bin",
        noted=["touch tip"],
        episodes=[
            {"path": f"OUT/episode_{k:06d}.mcap", "mark": mark, "seconds": seconds,
             "task": task, "notes": list(notes)}
            for k, (mark, seconds, task, notes) in enumerate(_EPISODES)
        ],
    ),
    "held": _situate(
        "Held", _S.ENGAGED, "hold", standing=[_CAUSE, _SECOND], is_still=True,
        seconds=4, recording="REC", cuts=["velocity of joint2, 12 %"],
        fields={"reasons": ("the robot is kept clear of something",)},
    ),
    "stuck": _situate(
        "Driving", _S.ENGAGED, "hold", seconds=4, offers_posture=True,
        note="'arm' is stuck (joint4 at its limit), another posture reaches; "
        "press p to change over",
    ),
    "homing": _situate("Going home", _S.HOMING),
    "aligning": _situate("Aligning", _S.ALIGNING, "hold", seconds=1),
    "lost": _situate("no link", _S.WAITING, "cut"),
    "another": _situate("Ready", _S.WAITING, "another", note="waiting for the leader"),
    "joints": _situate("Ready", _S.WAITING, "joints"),
    "cameras": _situate(
        "$#pictures figure >> nth=1", _S.WAITING, "cameras", objects=["cup", "bin"]
    ),
    "large": _situate(
        "$#pictures figure >> nth=1", _S.ENGAGED, "cameras", "enlarge", objects=["cup"],
        seconds=2,
    ),
    "legend": _situate("Ready", _S.WAITING, "legend"),
}  # fmt: skip


class Stage:
    """A view that shows one situation, and a page that shows the view."""

    def __init__(self, view):
        self.view = view
        self.situation = SITUATIONS["ready"]
        self.extra = {}
        self._limbs = [limb.name for limb in view.robot.limbs]

    def speak(self):
        """Have the session say it once."""
        one = self.situation
        emits = "joints" if "joints" in one.does else "pose"
        leader = {
            "hint": "hold the page's button (m)", "hands": self._limbs,
            "led": self._limbs if len(self._limbs) > 1 else [], "emits": emits,
        }  # fmt: skip
        news = {"leader": leader, "note": "", "folder": "OUT", "seconds": None}
        fields = {"news": news | one.news | self.extra, **one.fields}
        fields.setdefault("tau", np.full(len(self.view.robot.joint_names), 0.25))
        now_ns = time.monotonic_ns()
        made = make_session_view(self.view.robot, now_ns, state=one.state, **fields)
        self.view.observe(made)
        if "cameras" in one.does:
            frames = {name: Frame(now_ns, _draw(k)) for k, name in enumerate(_CAMERAS)}
            self.view.show(frames, _CAMERAS)

    def play(self, page, name):
        """Bring a page into a situation."""
        one = self.situation = SITUATIONS[name]
        does = set(one.does)
        if "reports" in does:
            report = {"address": "/report-0.html"}
            self.view._talk.library.reports = {"episode_000000": report}
        for action in ("another", "cut"):
            if action in does:
                getattr(self, f"_{action}")(page)
        self._wait(page, one)
        if "hold" in does and page.locator("#hold").is_visible():
            page.keyboard.down("m")
            page.locator("#hold.held").wait_for(timeout=20_000)
        if "enlarge" in does:
            page.locator("#pictures button").first.click()
        if "legend" in does:
            page.locator("#legend summary").click()
        if "joints" in does:
            page.locator("#sliders label").first.wait_for(timeout=20_000)
        seen = {"reports": "#episodes", "cameras": "#cameras"}
        for action in seen.keys() & does - {"enlarge"}:
            page.locator(seen[action]).scroll_into_view_if_needed()
        page.mouse.move(1, 1)
        page.evaluate("() => new Promise(requestAnimationFrame)")

    def leave(self, page, name):
        """Undo what was done to the page for a situation."""
        does = SITUATIONS[name].does
        self.view._panel.leave(self)
        self.situation = SITUATIONS["ready"]
        page.keyboard.up("m")
        if {"cut", "enlarge", "legend"} & set(does):
            page.reload()
        self._wait(page, self.situation)
        if page.evaluate("document.body.dataset.control") != "you":
            page.get_by_role("button", name="Take control").click()
        page.locator("#hold:enabled").wait_for(timeout=20_000)

    def _wait(self, page, one):
        if one.shows.startswith("$"):
            page.locator(one.shows[1:]).wait_for(timeout=20_000)
            return
        word = re.compile(f"^{one.shows}$")
        page.locator("#word", has_text=word).wait_for(timeout=20_000)
        page.wait_for_timeout(200)  # [ms] two messages: all of it is shown

    def _another(self, page):
        self.view._panel.take_control(self)
        page.locator("body[data-control=another]").wait_for(timeout=20_000)

    def _cut(self, page):
        page.evaluate(_CUT_LINK)

    @contextmanager
    def browse(self, **size):
        """Yield a browser whose page operates."""
        with open_browser(**size) as browser:
            browser.page.add_init_script(_KEEP_WORKERS)
            browser.open(self.view.notes[0].removeprefix("open "))
            browser.page.locator("#hold:enabled").wait_for(timeout=30_000)
            yield browser

    @contextmanager
    def watch(self, page, *, width, height, **options):
        """Yield another page, which watches, in the browser of a page."""
        viewport = {"width": width, "height": height}
        beside = page.context.browser.new_page(viewport=viewport, **options)
        beside.goto(self.view.notes[0].removeprefix("open "))
        beside.locator("body[data-control=another]").wait_for(timeout=30_000)
        try:
            yield beside
        finally:
            beside.close()


@contextmanager
def set_stage(robot, port, *, has_scene=False):
    """Yield a stage of a robot."""
    find_browser()
    config = ViewConfig(port=find_port(port), scene=has_scene, rate=5.0)
    view, over = View(config, robot, time.monotonic_ns), threading.Event()
    view.open()
    made = Stage(view)

    def go_on():
        while not over.wait(_PERIOD):
            made.speak()

    session = threading.Thread(target=go_on)
    session.start()
    try:
        yield made
    finally:
        over.set()
        session.join()
        view.close()


def _draw(k):
    """Pixels of a picture, (120, 160, 3): a slope, and a square of its own."""
    rows = np.linspace(40, 200, 120)[:, None, None]
    pixels = np.broadcast_to(rows, (120, 160, 3)).astype(np.uint8)
    pixels[40:80, 40 + 40 * k : 80 + 40 * k] = (220, 90, 40)
    return pixels.tobytes()
