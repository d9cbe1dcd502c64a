"""An operator at a session's page: keys, the mouse at a handle, what is read there."""

from __future__ import annotations

import os
import re
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from browser import open_browser
from running import RunningSession

from paprle.config import resolve
from paprle.hosts.plan import make_robot
from paprle.observers.view.drawing.bodies import Robot
from paprle.observers.view.scene import find_outlook

ADDRESS = re.compile(r"open (http://\S+)")
ARROW = 0.15  # [m] near the tip of a handle's arrow, which is 0.16 long
# how soon silence brakes is not judged with a browser that draws on the processor
PATIENT = ["session.max_gap=0.5", "gate.stale_after=0.5", "observers.view.rate=5"]
_COLORS = np.array([[255, 41, 96], [124, 217, 156], [52, 141, 230]])
_STEPS = 16  # of a drag: a mouse is seen several times on its way
_AGAIN = 0.5  # [s] until a page has shown what came of a press


class Outlook:
    """Where points of the world are in the picture, until somebody turns it."""

    def __init__(self, follower):
        self.info = make_robot(
            resolve(["leader=web", f"follower={follower}", "env=mujoco"])
        ).info
        self.limbs = {limb.name: limb for limb in self.info.limbs}
        self._robot = Robot(self.info)
        self._robot.move(self.info.home)
        self._camera = find_outlook(*self._robot.measure())

    def find_eef(self, q, limb):
        """T_world_eef of a limb at q."""
        self._robot.move(q)
        return self._robot.find(self.limbs[limb].eef_link)

    def find_base(self, limb):
        return self._robot.find(self.limbs[limb].base_link)

    def project(self, p_world, box):
        """Where a point is on the page, in whose box the picture is, [pixels]."""
        ahead = self._camera.look_at - self._camera.position
        ahead /= np.linalg.norm(ahead)
        right = np.cross(ahead, [0.0, 0.0, 1.0])
        right /= np.linalg.norm(right)
        p = p_world - self._camera.position
        x, y, depth = p @ right, p @ np.cross(right, ahead), p @ ahead
        focal = box["height"] / 2 / np.tan(self._camera.fov / 2)
        middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        return middle[0] + focal * x / depth, middle[1] - focal * y / depth


class Operator:
    """Somebody at one page of a session.

    A browser that draws without a graphics card on a busy machine falls silent now and
    then, and the robot pauses as it should: the hand lets go then and holds again.
    """

    def __init__(self, session, browser):
        self.session, self.browser, self.page = session, browser, browser.page
        self.press = self.page.keyboard
        self.n_pauses = 0

    def open(self):
        """Open the page, and wait for control."""
        self.browser.open(ADDRESS.search(self.session.text())[1])
        self.see("Ready", 60.0)
        self.page.locator("#hold:enabled").wait_for()

    def see(self, word, timeout=20.0):
        self.page.locator("#word", has_text=word).wait_for(timeout=1000 * timeout)

    def word(self):
        return self.page.locator("#word").inner_text()

    def wait_for_picture(self):
        """Wait until the picture is there."""
        self.page.locator("#picture iframe").wait_for(timeout=60_000)
        scene = self.page.frame_locator("#picture iframe")
        scene.locator("canvas").first.wait_for(timeout=60_000)

    def read_joints(self):
        """Return measured positions as the page shows them, shape (n,)."""
        rows = self.page.locator("#joints tr td:nth-child(2)").all_inner_texts()
        return np.array([float(text.split()[0]) for text in rows])

    def hold(self, timeout=60.0):
        """Hold the dead-man until the robot is driven."""
        end = time.monotonic() + timeout
        self.press.down("m")
        while self.word() != "Driving":
            assert time.monotonic() < end, self.word()
            if self.word() == "Paused":
                self._hold_again()
            self.page.wait_for_timeout(1000 * 0.05)

    def _hold_again(self):
        self.n_pauses += 1
        self.press.up("m")
        self.page.wait_for_timeout(1000 * _AGAIN)
        self.press.down("m")
        self.page.wait_for_timeout(1000 * _AGAIN)

    def drive(self, keys, seconds, timeout=60.0):
        """Hold these keys with the dead-man until it has driven for so long, [s].

        The dead-man stays held.
        """
        driven, before, is_driven = 0.0, time.monotonic(), False
        end = before + timeout
        self.press.down("m")
        while driven < seconds:
            word, now = self.word(), time.monotonic()
            assert now < end, word
            driven += (now - before) * is_driven
            before, is_driven = now, word == "Driving"
            if is_driven:
                for key in keys:
                    self.press.down(key)
            if word == "Paused":
                self._hold_again()
            self.page.wait_for_timeout(1000 * 0.02)
        for key in keys:
            self.press.up(key)

    def let_go(self):
        self.press.up("m")
        self.see("Paused")

    def note(self, text):
        """Note something by keys, and see that the session has it."""
        self.press.press("#")
        self.press.type(text)
        self.press.press("Enter")
        self.page.locator("#noted", has_text=text).wait_for(timeout=20_000)

    def drag(self, outlook, limb, axis, distance, timeout=240.0):
        """Drag a limb's handle along one of its arrows by a distance, [m].

        Returns:
            Where it is wanted then, in the limb's base, shape (3,).
        """
        end = time.monotonic() + timeout
        T_world_base = outlook.find_base(limb)
        T_world_eef = outlook.find_eef(self.read_joints(), limb)
        along = T_world_eef.rotation[:, axis]
        goal = T_world_eef.translation + distance * along
        while abs(left := (goal - T_world_eef.translation) @ along) > 1e-3:
            assert time.monotonic() < end, f"{left} m are left"
            self._pull(outlook, T_world_eef, axis, left)
            self.wait_for_rest(outlook, limb)
            T_world_eef = outlook.find_eef(self.read_joints(), limb)
        return T_world_base.inverse().act(goal)

    def wait_for_handle(self, outlook, limb, axis, timeout=60.0):
        """Wait until the tip of an arrow is seen where it is by what was measured.

        So the picture is drawn, and is seen from where it was at first.
        """
        end = time.monotonic() + timeout
        while True:
            T = outlook.find_eef(self.read_joints(), limb)
            tip = T.translation + ARROW * T.rotation[:, axis]
            if self.sees_arrow(outlook, tip, axis):
                return
            assert time.monotonic() < end, f"no arrow at {tip}"
            self.page.wait_for_timeout(1000 * _AGAIN)

    def sees_arrow(self, outlook, tip, axis):
        """Whether the arrow of an axis is drawn at a point of the world."""
        x, y = map(round, outlook.project(tip, self._find_box()))
        near = self.browser.shoot()[y - 3 : y + 4, x - 3 : x + 4]
        return np.abs(near - _COLORS[axis]).max(axis=2).min() < 40

    def _find_box(self):
        return self.page.locator("#picture iframe").bounding_box()

    def _pull(self, outlook, T_world_eef, axis, distance):
        along = T_world_eef.rotation[:, axis]
        self.hold()
        self.pull(outlook, T_world_eef.translation + ARROW * along, distance * along)

    def pull(self, outlook, tip, way):
        """Drag by the mouse what is drawn at a point of the world along a way, [m]."""
        box, mouse = self._find_box(), self.page.mouse
        mouse.move(*outlook.project(tip, box))
        self.page.wait_for_timeout(1000 * _AGAIN)  # the arrow is found
        mouse.down()
        for share in np.linspace(0.0, 1.0, _STEPS)[1:]:
            mouse.move(*outlook.project(tip + share * way, box))
            self.page.wait_for_timeout(1000 * 0.03)
        self.page.wait_for_timeout(1000 * _AGAIN)
        mouse.up()

    def wait_for_rest(self, outlook, limb, timeout=20.0):
        """Wait until the measured hand moves no more."""
        end = time.monotonic() + timeout
        before = None
        while time.monotonic() < end:
            p = outlook.find_eef(self.read_joints(), limb).translation
            if before is not None and np.abs(p - before).max() < 5e-4:
                return
            before = p
            self.page.wait_for_timeout(1000 * 0.5)
        raise AssertionError("it never comes to rest")

    def shoot(self, name, folder):
        return self.browser.shoot(folder / f"{name}.png")


@contextmanager
def operate(folder, follower, *words, script="", **size):
    """Yield somebody at the page of a session of ``leader=web``; ends the session.

    ``script`` runs in each frame before its own.
    """
    words = ["leader=web", f"follower={follower}", "env=mujoco", *words]
    session = RunningSession(words, Path(folder) / "out")
    try:
        session.wait_for("#", 120.0)
        with open_browser(**size) as browser:
            browser.page.add_init_script(script)
            operator = Operator(session, browser)
            operator.open()
            yield operator
    finally:
        session.end()


def find_pictures(folder):
    """Where pictures go: a folder that PICTURES names, to be kept, or this one."""
    kept = Path(os.environ.get("PICTURES", folder))
    kept.mkdir(parents=True, exist_ok=True)
    return kept
