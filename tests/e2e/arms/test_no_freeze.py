"""Minutes of a game controller on eight robots: no arm stands without a true reason.

A session on the virtual clock, with its own inverse kinematics and gate. Each second
the operator pushes another way, while the gripper opens or closes. Where the robot
stands for a second, the session names the reason, and the robot moves again within a
second once the operator moves back, or lets go and holds again.
"""

from __future__ import annotations

import emulated_hands
import numpy as np
import pytest

from paprle.testing import EmulatedHand
from paprle.testing.stepped import SteppedSession

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(900)]
ROBOTS = [
    "papras_7dof",
    "piper",
    "ur5e",
    "xarm7",
    "panda",
    "so101",
    "open_manipulator_x",
    "yam",
]
SECONDS, LONGEST = 300, 8  # a push lasts up to seven seconds: to a limit or a body
STEP = 0.1  # [s]
STILL = 2e-3  # [rad] chosen: a command that moves by less in a second stands
WORDS = ("leader=gamepad", "leader.pads.pad.device=Faulty pad", "leader.longest=60")
STICKS = ("leftx", "lefty", "rightx", "righty")


class RandomHand(EmulatedHand):
    """Sticks, cross and triggers of a pad, as they are set."""

    def __init__(self, _leader, _clock):
        super().__init__()
        self.pad, self.controls = emulated_hands.PADS["Faulty pad"], {}

    def tick(self):
        self.pad.move("leftshoulder", float(self.is_held))
        for name in (*STICKS, "lefttrigger", "righttrigger"):
            self.pad.move(name, self.controls.get(name, 0.0))

    def close(self):
        self.pad.unplug()


def draw(rng):
    """Return deflections of one direction, and of the gripper."""
    push = rng.normal(size=4)
    push *= 0.9 / np.abs(push).max()
    trigger = rng.choice(["lefttrigger", "righttrigger", ""])
    return dict(zip(STICKS, push, strict=True)) | {trigger: 1.0}


def turn_back(controls):
    """Return the sticks' deflections the other way round."""
    return {name: -value for name, value in controls.items() if name in STICKS}


def engage(session):
    session.hand.is_held = False
    session.hand.controls = {}
    session.step(0.5)
    session.hand.is_held = True
    session.until("ENGAGED")


def has_moved(session, seconds, ids):
    """Step; return whether the arm's command moves within a time."""
    before = session.q_cmd[ids]
    for _ in range(round(seconds / STEP)):
        session.step(STEP)
        if np.abs(session.q_cmd[ids] - before).max() > STILL:
            return True
    return False


@pytest.mark.parametrize("name", ROBOTS)
def test_an_arm_that_stands_has_a_reason_and_moves_on(name):
    rng = np.random.default_rng(11)
    emulated_hands.plug_pad()  # before the session looks for it
    session = SteppedSession(WORDS, RandomHand, (f"follower={name}", "env=kinematic"))
    limb = session.session.plan.robot.info.limbs[0]
    names = session.session.plan.robot.info.joint_names
    ids = [names.index(joint) for joint in limb.joint_names]
    n_stands = 0
    try:
        engage(session)
        left = 0
        for second in range(SECONDS):
            if not left:
                controls, left = draw(rng), int(rng.integers(1, LONGEST))
            left -= 1
            session.hand.controls = controls
            if session.state != "ENGAGED":
                engage(session)
            session.step(0.3)
            if has_moved(session, 0.7, ids):
                continue
            n_stands += 1
            session.step(0.3)  # named after half a second, at the next look
            reasons = session.session.standing
            assert reasons, f"it stands without a reason, {second} s: {controls}"
            left = 0
            session.hand.controls = turn_back(controls)
            if not has_moved(session, 1.0, ids):
                engage(session)
                session.hand.controls = turn_back(controls)
                assert has_moved(session, 1.0, ids), f"{second} s: {reasons}"
    finally:
        session.hand.close()
    assert n_stands < 0.5 * SECONDS, "it followed for less than half of the time"
