"""From where a person's leader may start (S1)."""

from __future__ import annotations

import numpy as np
import pytest
from lock_step import PIPER

from paprle.contracts.settings.core import GateSettings
from paprle.contracts.settings.retarget import RetargetSettings
from paprle.contracts.types import LeaderInfo, LeaderSample, LimbCommand
from paprle.ipc.records import SampleView, make_layout, pack_sample
from paprle.retargeting.retarget import Retargeting
from paprle.session.motion import DesiredMotion

ARM = PIPER.limbs["arm"]
LEADER = LeaderInfo(
    limbs=("arm",),
    emits="joints",
    joint_names={"arm": ARM.joint_names},
    has_gripper=True,
)
BOUND = 0.8


def find_refusal(*, arm, opening):
    """What is said when the leader's first joint is off by that much."""
    layout = make_layout(PIPER.info, LEADER)
    retargeting = Retargeting(PIPER, LEADER, RetargetSettings(mode="joints"))
    motion = DesiredMotion(PIPER, retargeting, GateSettings(), layout)
    status = np.zeros((), dtype=layout.status)
    status["q_cmd"] = PIPER.home
    motion.take_status(status, 0)
    q = ARM.home + np.eye(6)[0] * arm
    command = LimbCommand(q=q, opening=opening)
    view = SampleView(layout)
    sample = LeaderSample(stamp_ns=0, seq=0, limbs={"arm": command})
    record = pack_sample(layout, sample)
    view.update(record)
    motion.leaders.update([record], 0)
    return motion.find_start_refusal(view, BOUND)


@pytest.mark.parametrize("arm", [0.79, -0.79, 0.0])
@pytest.mark.parametrize("opening", [0.0, 1.0])
def test_an_arm_may_start_from_near_whatever_its_gripper_does(arm, opening):
    assert find_refusal(arm=arm, opening=opening) == ""


@pytest.mark.parametrize("arm", [0.81, -0.81, -3.0])
def test_an_arm_may_not_start_from_afar_on_either_side(arm):
    name, apart = ARM.joint_names[0], f"{abs(arm):.2f} [rad]"

    refusal = find_refusal(arm=arm, opening=0.5)

    assert f"joint '{name}' is {apart} from the leader" in refusal


@pytest.mark.parametrize(
    ("hint", "start", "again"),
    [
        ("", "press Enter to start", "let go and engage again, or press Enter"),
        ("squeeze", "squeeze, or press Enter to start", "squeeze"),
    ],
)
def test_the_session_explains_how_this_leader_starts_and_goes_on(
    lock_step, hint, start, again
):
    session = lock_step(LeaderInfo(limbs=("hand",), engage_hint=hint))
    session.until("WAITING").step(5)
    assert session.core.note == start

    session.engage().move(20)
    session.leader_speaks = False
    session.step(60)
    assert session.core.note == f"leader lost; {again}"


@pytest.mark.parametrize(
    ("hint", "change", "told"),
    [
        ("", {"engaged": False}, "let go; engage again to go on"),
        ("squeeze", {"engaged": False}, "let go; squeeze to go on"),
        ("squeeze", {"valid": False}, "tracking lost; squeeze"),
        ("squeeze", {"valid": False, "engaged": False}, "tracking lost; squeeze"),
    ],
)
def test_a_hand_that_lets_go_is_not_a_leader_that_is_lost(
    lock_step, hint, change, told
):
    session = lock_step(LeaderInfo(limbs=("hand",), engage_hint=hint))
    session.until("WAITING").engage().move(20)

    vars(session).update(change)
    session.step(20)

    assert session.state == "CLUTCHED"
    assert session.core.note == told
