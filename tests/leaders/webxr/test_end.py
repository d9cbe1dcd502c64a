"""Bare hands at a headset end an episode: in a session, and on the page itself."""

from __future__ import annotations

import json
import time

import pytest
from emulated_hands import PageHand
from iwer import load_runtime, open_phone, show_bare_hands
from phones import TLS_ADDRESS, wait_until

from paprle.leaders.webxr.config import WebxrConfig
from paprle.leaders.webxr.leader import Webxr
from paprle.testing.stepped import SteppedSession

SIGN = 3.0  # [s] spec: requirements.md P34


class BareHands(PageHand):
    """Hands whose thumb and index finger are so far apart."""

    gap = 0.1  # [m]

    def compose(self):
        message = json.loads(super().compose())
        for hand in message["limbs"].values():
            hand["gap"] = self.gap
        return json.dumps(message)


@pytest.fixture(params=["[right]", "[left,right]"])
def session(request):
    words = ("leader=webxr", f"leader.hands={request.param}")
    robot = ("follower=papras_7dof_2arm", "env=kinematic")
    limbs = request.param.strip("[]").split(",")
    mapped = ",".join(f"{limb}: {limb}" for limb in limbs)
    made = SteppedSession((*words, f"retarget.limb_map={{{mapped}}}"), BareHands, robot)
    yield made
    made.close()
    made.judge()


@pytest.mark.long
def test_pinches_after_driving_end_the_episode_and_none_begins(session):
    session.engage()
    session.hand.speed = 0.06
    session.step(0.5)
    session.hand.is_held, session.hand.speed = False, 0.0
    session.step(0.5)
    session.hand.gap = 0.01
    session.step(SIGN - 0.1)
    assert "RESETTING" not in session.states
    session.step(0.2)
    assert "RESETTING" in session.states

    session.until("WAITING").step(1.0)
    assert session.state == "WAITING"


@pytest.mark.long
def test_a_gripper_that_stays_closed_through_a_clutch_ends_nothing(session):
    session.engage()
    session.hand.gap = 0.01
    session.step(SIGN + 0.5)
    assert session.state == "ENGAGED"
    session.hand.is_held = False
    session.step(SIGN + 0.5)
    assert session.state == "CLUTCHED"


@pytest.mark.nightly
@pytest.mark.timed  # 3 s of a person's time: a pinch unseen for 0.2 s begins anew
def test_the_page_counts_the_pinches_and_tells(tmp_path):
    config = WebxrConfig(
        listen=TLS_ADDRESS, certificate=str(tmp_path), hands=("left", "right")
    )
    leader = Webxr(config, time.monotonic_ns)
    leader.open()
    address = leader.notes[0].removeprefix("open ")
    with open_phone(load_runtime(tmp_path), address, kind="headset") as opened:
        page, do = opened.page, opened.page.evaluate
        wait_until(lambda: do("!document.getElementById('enter').disabled"), 20.0)
        page.get_by_role("button", name="Start").click()
        show_bare_hands(do)
        wait_until(lambda: leader.latest() is not None and leader.latest().valid)

        def pinch(value, *hands):
            for hand in hands:
                pose = "pinch" if value else "default"
                do(f"emulated.hands.{hand}.poseId = '{pose}'")
                do(f"emulated.hands.{hand}.updatePinchValue({value})")

        pinch(0, "left", "right")
        time.sleep(0.3)
        pinch(1, "left")
        time.sleep(0.5)
        assert page.get_by_text("Keep pinching").count() == 0, "one hand alone"
        pinch(1, "right")
        page.get_by_text("Keep pinching").wait_for(timeout=10_000)
        assert not leader.latest().end
        wait_until(lambda: leader.latest().end, 20.0)
        pinch(0, "right")
        wait_until(lambda: not leader.latest().end)
        errors = list(opened.errors)
    leader.close()
    assert errors == []
