"""A headset as a leader: its contract, two hands, and its page in a browser."""

from __future__ import annotations

import time

import numpy as np
import pytest
from cells import spread
from iwer import load_runtime, open_phone, show_bare_hands
from phones import TLS_ADDRESS, hold_until_engaged, wait_until

from paprle.ipc.records import make_layout, pack_sample
from paprle.leaders.webxr.config import WebxrConfig
from paprle.leaders.webxr.leader import Webxr
from paprle.session.inputs.intake import Intake
from paprle.testing import LeaderContract, ManualClock
from paprle.testing.robots import make_robot_info
from paprle_emulators.phone.phone import EmulatedPhone

BOTH = WebxrConfig(hands=("left", "right"))


def plug_in(leader):
    address = leader.notes[0].removeprefix("open ")
    return EmulatedPhone(
        address, limbs=leader.info.limbs, page=f"{time.monotonic_ns()}"
    )


def say(leader, headset, *args, **changes):
    device = leader._station.device
    n = device.n_messages
    headset.tell(*args, **changes)
    wait_until(lambda: device.n_messages > n)


class TestWebxr(LeaderContract):
    @pytest.fixture(autouse=True)
    def headsets(self):
        self.headsets, self.y = {}, 0.0
        yield
        for headset in self.headsets.values():
            headset.close()

    def make_leader(self, clock):
        return Webxr(BOTH, clock)

    def stimulate(self, leader, clock):  # noqa: ARG002
        if leader not in self.headsets:
            self.headsets[leader] = plug_in(leader)
            self.headsets[leader].hold()
        self.y += 1e-4
        say(leader, self.headsets[leader], (0.0, self.y, 0.0))

    def unplug(self, leader):
        self.headsets[leader].drop()
        wait_until(lambda: not leader._station.device.state.is_tracked)


def test_one_hand_that_lets_go_lets_both_go():
    clock = ManualClock()
    leader = Webxr(BOTH, clock)
    leader.open()
    headset = plug_in(leader)
    headset.hold()
    say(leader, headset)
    leader.latest()
    clock.advance(0.03)
    assert leader.latest().engaged

    message = headset.make_sample()
    message["limbs"]["left"] = {**message["limbs"]["left"], "held": False}
    headset.send(message)
    wait_until(lambda: not leader.latest().engaged)
    headset.close()
    leader.close()


def test_a_page_that_tells_of_another_hand_is_refused():
    leader = Webxr(WebxrConfig(), ManualClock())
    leader.open()
    headset = plug_in(leader)
    message = headset.make_sample()
    message["limbs"] = {"left": message["limbs"]["right"]}
    headset.send(message)

    wait_until(lambda: leader._station.device.refused["limbs"] == 1)
    assert leader.latest() is None
    headset.close()
    leader.close()


@pytest.fixture(scope="module")
def headset(tmp_path_factory):
    """A leader, and the browser of its headset, which takes seconds to start."""
    folder = tmp_path_factory.mktemp("web")
    config = WebxrConfig(
        listen=TLS_ADDRESS, certificate=str(folder), hands=("left", "right")
    )
    leader = Webxr(config, time.monotonic_ns)
    leader.open()
    address = leader.notes[0].removeprefix("open ")
    with open_phone(load_runtime(folder), address, kind="headset") as opened:
        yield leader, opened
    leader.close()


@pytest.fixture
def page(headset):
    _, opened = headset
    opened.page.reload()
    opened.errors.clear()
    button = opened.page.get_by_role("button", name="Start")
    wait_until(
        lambda: opened.page.evaluate("!document.getElementById('enter').disabled")
    )
    button.click()
    return headset


@pytest.mark.timed  # a message that is late lets go (safety.md A5)
def test_controllers_drive_by_their_grips_and_triggers(page):
    leader, opened = page
    do = opened.page.evaluate
    for hand in ("left", "right"):
        do(f"emulated.controllers.{hand}.position.set(0, 1.1, -0.4)")
    wait_until(lambda: leader.latest() is not None and leader.latest().valid)

    def squeeze(hand, value):
        do(f"emulated.controllers.{hand}.updateButtonValue('squeeze', {value})")

    squeeze("left", 1)
    time.sleep(0.2)
    assert not leader.latest().engaged, "both hold, or neither moves"
    hold_until_engaged(
        leader,
        press=lambda: [squeeze("left", 1), squeeze("right", 1)],
        release=lambda: [squeeze("left", 0), squeeze("right", 0)],
    )

    def read(hand):
        return leader.latest().limbs[hand].T_leader_base_leader_eef.translation

    before = {hand: read(hand) for hand in ("left", "right")}
    actions = leader.latest().actions
    for k in range(1, 11):
        do(f"emulated.controllers.right.position.set(0, 1.1, {-0.4 - 0.01 * k})")
        time.sleep(0.03)
    wait_until(
        lambda: np.allclose(read("right") - before["right"], [0.1, 0, 0], atol=1e-3)
    )
    np.testing.assert_allclose(read("left"), before["left"], atol=1e-6)

    do("emulated.controllers.right.updateButtonValue('trigger', 0.75)")
    wait_until(lambda: abs(leader.latest().limbs["right"].opening - 0.25) < 1e-3)
    do("emulated.controllers.right.updateButtonValue('b-button', 1)")
    wait_until(lambda: leader.latest().actions.since(actions).stop == 1)
    squeeze("left", 0)
    wait_until(lambda: not leader.latest().engaged)
    assert opened.errors == []


@pytest.mark.timed  # likewise
def test_hands_that_close_drive_and_pinch(page):
    leader, opened = page
    do = opened.page.evaluate
    show_bare_hands(do)
    wait_until(lambda: leader.latest() is not None and leader.latest().valid)
    assert not leader.latest().engaged

    wait_until(lambda: leader.latest().limbs["right"].opening > 0.5)
    open_hand = leader.latest().limbs["right"].opening
    do("emulated.hands.right.poseId = 'pinch'")
    do("emulated.hands.right.updatePinchValue(1)")
    wait_until(lambda: leader.latest().limbs["right"].opening < open_hand - 0.3)
    assert not leader.latest().engaged, "a pinch is a gripper and no grip"

    do("emulated.hands.right.updatePinchValue(0)")

    def pose(name):
        for hand in ("left", "right"):
            do(f"emulated.hands.{hand}.poseId = '{name}'")

    hold_until_engaged(
        leader,
        press=lambda: pose("point"),  # the other fingers are closed
        release=lambda: pose("default"),
    )
    do("emulated.hands.left.poseId = 'default'")
    wait_until(lambda: not leader.latest().engaged)
    assert opened.errors == []


LOSSES = {
    "controller": (
        "emulated.controllers.right.connected = false",
        "emulated.controllers.right.connected = true",
    ),
    "hidden": (
        "emulated.updateVisibilityState('hidden')",
        "emulated.updateVisibilityState('visible')",
    ),
    "guessed": (
        """Object.defineProperty(XRPose.prototype, 'emulatedPosition',
             { configurable: true, get: () => true })""",
        """Object.defineProperty(XRPose.prototype, 'emulatedPosition',
             { configurable: true, get: () => false })""",
    ),
}


@pytest.mark.timed  # likewise
@pytest.mark.parametrize("loss", spread(LOSSES, "hidden"))
def test_a_grip_that_was_lost_counts_after_a_release_alone(page, loss):
    leader, opened = page
    do, lost, back = opened.page.evaluate, *LOSSES[loss]
    layout = make_layout(make_robot_info(has_gripper=True, n_limbs=2), leader.info)
    intake = Intake(layout, 0.3)

    def is_usable():
        sample, now_ns = leader.latest(), time.monotonic_ns()
        intake.update(None if sample is None else pack_sample(layout, sample), now_ns)
        return intake.is_usable(now_ns)

    def squeeze(value):
        for hand in ("left", "right"):
            do(f"emulated.controllers.{hand}.updateButtonValue('squeeze', {value})")

    def take_hold():
        """Let go and hold, again where a busy browser's message came late."""
        end = time.monotonic() + 30.0
        while not is_usable():
            assert time.monotonic() < end, "it never counts"
            squeeze(0)
            poll(lambda: not leader.latest().engaged, 0.5)
            squeeze(1)
            poll(is_usable, 0.5)

    def poll(is_true, time_):
        end = time.monotonic() + time_
        while time.monotonic() < end and not is_true():
            is_usable()

    for hand in ("left", "right"):
        do(f"emulated.controllers.{hand}.position.set(0, 1.1, -0.4)")
    wait_until(lambda: leader.latest() is not None)
    take_hold()
    do(lost)
    wait_until(lambda: not is_usable())
    do(back)
    wait_until(lambda: not is_usable() and leader.latest().valid)
    end = time.monotonic() + 0.5
    while time.monotonic() < end:
        assert not is_usable(), "tracking that returns is no press"
    assert leader.latest().engaged, "the grip is held all the while"
    take_hold()
