"""AdaptiX's scenario, live at 200 Hz, by one axis, a pad and keys, page and cues on."""

import re
import signal
import time

import numpy as np
import pytest
from browser import open_browser
from moved_pad import MovedPad
from running import RunningSession, judge
from scenario_eye import ADVISOR, POINT, Watcher
from terminal import TerminalSession

from benchmarks.shared_control.users import Adaptive
from paprle_lab.evaluation.timing import measure_ticks

pytestmark = [
    pytest.mark.process,
    pytest.mark.sim,
    pytest.mark.timed,
    pytest.mark.nightly,
    pytest.mark.timeout(300),
]

OLDEST, SELDOMEST = 0.020, 10.0  # [s], [Hz] what is required of suggestions
ON_TIME = 99.0  # [%] of ticks, beside a browser that draws on the processor
CUE = 40  # [px] chosen: an arrow of one eighth of the picture's width
LONGEST = 120.0  # [s] as in benchmarks.shared_control
ADDRESS = re.compile(r"open (http://\S+)")
WORDS = [
    "follower=papras_7dof",
    "env=mujoco",
    "env.scenario.seed=3",
    "session.rate=200",
    "session.view=true",
    "observers.view.rate=5",
    f"retarget.modes={ADVISOR}",
    f"advisors.{ADVISOR}={{type: admc, forward: x, point: {list(POINT)}}}",
]
ONE_AXIS = """\
type: gamepad
curve: 1
pads:
  pad:
    axes: {push: -lefty}
    buttons: {leftshoulder: deadman, a: mode}
"""
LEVELS = {True: b"2", False: b"5"}  # whether it is near: 0.04 and 0.1 m/s


class PadHands:
    """A thumb on a stick, and a finger on the dead-man."""

    def __init__(self, folder, watcher, leader):
        self._pad = MovedPad(folder)
        words = [
            f"leader={leader}",
            f"leader.pads.pad.device={self._pad.device}",
            "leader.speed=0.1",
            "leader.turn_speed=0.5",
            "leader.longest=60",
            *WORDS,
            *watcher.words,
            "console=on",
        ]
        self.session = RunningSession(words, folder / "out", watcher.env)

    def act(self, axis, button, is_engaged):
        is_gripped = is_engaged or time.monotonic() % 1.0 > 0.5
        self._pad.move(lefty=-axis, a=int(button), leftshoulder=int(is_gripped))

    def close(self):
        self._pad.close()


class KeyHands:
    """A finger on a key that repeats as a terminal tells it."""

    def __init__(self, folder, watcher):
        words = [
            "leader=keyboard",
            "leader.first_time=0.15",
            *WORDS,
            *watcher.words,
            "console=on",
        ]
        self.session = TerminalSession(words, folder / "out", watcher.env)
        self._is_down, self._is_near, self._again = False, False, 0.0

    def act(self, axis, button, is_engaged):
        now = time.monotonic()
        if button and not self._is_down:
            self.session.press(b"m")
        self._is_down = button
        if now < self._again:
            return
        self._again = now + 1 / 30
        if not is_engaged:
            self.session.press(b"\r")
            self._again = now + 2.0
        elif axis > 0.0:
            is_near = axis < 0.99
            if is_near != self._is_near:
                self.session.press(LEVELS[is_near])
            self._is_near = is_near
            self.session.press(b"w")

    def close(self):
        pass


def take_hands(device, folder, watcher):
    if device == "keys":
        return KeyHands(folder, watcher)
    if device == "a pad":
        return PadHands(folder, watcher, "gamepad")
    (folder / "one_axis.yaml").write_text(ONE_AXIS)
    return PadHands(folder, watcher, folder / "one_axis.yaml")


def count_cyan(image):
    """How much is drawn in the colour of the cue that is in use."""
    r, g, b = np.moveaxis(image, 2, 0)
    return int(((b > 150) & (g > 130) & (r < 70)).sum())


def play(hands, watcher, browser, folder):
    """Put the block on the target; return how much of a cue the page showed."""
    user, shown, text = Adaptive(3, waits_for_cue=False), 0, hands.session.text
    n_glances = 0
    before = count_cyan(browser.shoot())
    end = time.monotonic() + LONGEST
    while "block 1 is placed" not in text():
        assert time.monotonic() < end, f"not placed:\n{text()[-2000:]}"
        seen = watcher.look()
        is_engaged = seen is not None and seen[1]
        if is_engaged:
            user.look(seen[0])
        else:
            user.axis = 0.0
        if is_engaged and n_glances < user.n_presses and not user.button:
            n_glances = user.n_presses
            hands.act(0.0, False, is_engaged)
            picture = browser.shoot(folder / f"cue{n_glances}.png")
            shown = max(shown, count_cyan(picture) - before)
        hands.act(user.axis, user.button, is_engaged)
        time.sleep(0.01)
    return shown


def measure(watcher):
    """Ages of suggestions, [s], and how often there was a new one, [Hz]."""
    driven = [one for one in watcher.told if one["is_engaged"]]
    age = np.array([one["age"] for one in driven])
    gaps = np.diff(np.unique([one["said_ns"] for one in driven])) * 1e-9
    rests = [one["t_ns"] - one["based_on_ns"] for one in driven]
    return {
        "n": len(driven),
        "age_p50": float(np.median(age)),
        "age_p99": float(np.percentile(age, 99)),
        "age_max": float(age.max()),
        "measured_p99": float(np.percentile(rests, 99)) * 1e-9,
        "rate_p1": float(1.0 / np.percentile(gaps, 99)),
    }


@pytest.mark.parametrize("device", ["one axis", "a pad", "keys"])
def test_the_block_is_placed_by_suggestions_that_are_new(tmp_path, device):
    watcher = Watcher(tmp_path)
    hands = take_hands(device, tmp_path, watcher)
    session = hands.session
    try:
        session.wait_for("open http", 120.0)
        address = ADDRESS.search(session.text())[1]
        with open_browser(1280, 900) as browser:
            browser.open(address)
            scene = browser.page.frame_locator("#picture iframe")
            scene.locator("canvas").first.wait_for(timeout=60_000)
            browser.page.wait_for_timeout(3000)
            shown = play(hands, watcher, browser, tmp_path)
            assert not browser.elsewhere
        session.kill("session", signal.SIGINT)
        session.wait_gone(60.0)
    finally:
        session.end()
        hands.close()
        watcher.look()
        watcher.close()

    episode = session.episode()
    found = measure(watcher) | measure_ticks(episode.ticks, 1 / 200)
    mappings = [np.array(e["D"]) for e in episode.events if e["event"] == "mapping"]
    assert not judge(episode).violations
    assert any(np.count_nonzero(D[:, 0]) > 1 for D in mappings), "it suggested nothing"
    assert shown > CUE, "the cue in use is drawn"
    assert found["age_max"] <= OLDEST, found
    assert found["rate_p1"] >= SELDOMEST, found
    assert found["on_time_percent"] >= ON_TIME, found
