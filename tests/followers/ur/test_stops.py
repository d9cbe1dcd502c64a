"""Stops and losses of a UR that is driven are named, and nothing moves after them."""

import numpy as np
import pytest
from ur_rig import EmulatedUr, cycle, find_speeds

from paprle.contracts.errors import DeviceError
from paprle.followers.ur.config import UrConfig
from paprle.followers.ur.follower import UrFollower

pytestmark = pytest.mark.process

STOPS = {
    "protective_stop": ("protective stop", ["unlock"]),
    "safeguard": ("safeguard stop", ["safeguard_reset"]),
    "estop": ("emergency stop (robot)", ["estop_release", "power_on"]),
    "system_estop": (
        "emergency stop (system); release the emergency stop of its cell",
        ["estop_release", "power_on"],
    ),
    "violation": (
        "fault (safety violation); read its pendant, restart its safety",
        ["restart_safety", "power_on"],
    ),
    "safety_fault": (
        "fault (safety fault); read its pendant, restart its safety",
        ["restart_safety", "power_on"],
    ),
    "recovery": (
        "fault (recovery mode); lead the arm inside its safety limits",
        ["recovered"],
    ),
    "local": ("local control", ["remote"]),
    "program_stop": ("its program does not run", []),
}


def drive(follower, clock, time_s=0.3):
    """Move the first joint, and stop in the middle of it; return the last goal."""
    q = follower.read().q.copy()
    for _ in range(int(time_s * 250)):
        q = q + 0.2 / 250 * np.eye(6)[0]
        follower.read()
        follower.write(q)
        clock.advance(1 / 250)
    return q


@pytest.mark.timed  # goals that wait for long are dropped
@pytest.mark.parametrize("stop", STOPS)
def test_a_stop_is_named_nothing_moves_and_it_goes_on_when_asked(
    arm, follower, clock, stop
):
    reason, undo = STOPS[stop]
    goal = drive(follower, clock)
    at_ns = arm.do(stop)
    seen = []
    cycle(
        follower,
        clock,
        goal + 0.5,
        until=lambda state: seen.append(state.stop_reason) or reason in seen[-1],
        time_s=3.0,
    )
    assert any(reason in text for text in seen), seen
    for order in undo:
        cycle(follower, clock, goal + 0.5, time_s=0.6)
        arm.do(order)
    state = cycle(
        follower, clock, goal + 0.5, until=lambda s: not s.stop_reason, time_s=6.0
    )
    assert not state.stop_reason, "it is driven again"
    cycle(follower, clock, goal + 0.5, time_s=0.3)
    record = arm.read()
    later = record.state_stamps > at_ns + 0.3e9
    assert find_speeds(record)[later].max() < 0.02, "nobody has asked yet"

    q = follower.read().q
    state = cycle(follower, clock, q + 0.03, time_s=0.5)
    assert np.abs(state.q - q - 0.03).max() < 5e-3


def test_a_protective_stop_carries_the_code_of_the_controller(arm, follower, clock):
    drive(follower, clock, time_s=0.1)
    arm.do("protective_stop", reason="C153A4: position deviates from path")
    state = cycle(
        follower, clock, until=lambda s: "C153A4" in s.stop_reason, time_s=2.0
    )

    assert state.stop_reason.startswith(
        "protective stop (C153A4: position deviates from path); clear the arm's way"
    )


def test_without_the_primary_interface_a_stop_has_no_code(arm, follower, clock):
    (one,) = (one for _, one, _ in follower._arms)
    one._messages.close()
    arm.do("protective_stop", reason="C153A4: position deviates from path")
    state = cycle(follower, clock, until=lambda s: s.stop_reason, time_s=2.0)

    assert state.stop_reason.startswith("protective stop; clear the arm's way")


def test_silence_ends_the_program_and_the_arm_holds(arm, follower, clock):
    drive(follower, clock)
    begin = clock()
    clock.advance(0.8)
    state = follower.read()

    assert "its program does not run" in state.stop_reason
    assert np.abs(state.q_held - state.q).max() < 1e-6
    record = arm.read()
    ended = [at for at, text in record.events if "watchdog" in text]
    assert ended[0] - begin == pytest.approx(0.2e9, abs=0.1e9)
    later = record.state_stamps > begin + 0.4e9
    assert find_speeds(record)[later].max() < 0.01


def test_a_short_cut_of_the_cable_is_no_jump_and_what_waited_is_not_sent(
    arm, follower, clock
):
    goal = drive(follower, clock)
    at_ns = arm.do("unplug", time=0.15)
    for _ in range(40):
        follower.read()
        follower.write(goal)
        clock.advance(1 / 250)
    state = follower.read()
    record = arm.read()

    assert clock() - state.stamp_ns < 0.1e9 or state.stop_reason
    late = (record.stamps > at_ns + 0.15e9) & (record.stamps < at_ns + 0.16e9)
    assert late.sum() <= 15, "50 ms of goals at most are on their way"


@pytest.mark.parametrize("before", [0.0, 0.5])
def test_a_pulled_cable_makes_nobody_wait_at_the_end(arm, follower, clock, before):
    drive(follower, clock)
    arm.do("unplug")
    cycle(follower, clock, time_s=before)
    begin = clock()
    follower.close("hold")

    assert clock() - begin < 4e9
    clock.advance(0.3)
    ended = [text for _, text in arm.read().events if "watchdog" in text]
    assert ended, "the controller ends the program by itself"


def test_slider_wrench_and_payload(arm, robot, clock):
    follower = UrFollower(
        UrConfig(host=arm.host, rate=250.0, payload=1.2), robot, clock
    )
    follower.open()
    assert "set_payload 1.200 kg at [0.0000, 0.0000, 0.0000] m" in [
        text for _, text in arm.read().events
    ]
    assert follower.take_warnings() == []
    arm.do("slider", fraction=0.5)
    arm.do("wrench", values=[0, 0, 20, 0, 0, 0])
    state = cycle(follower, clock, time_s=0.3)
    (told,) = follower.take_warnings()
    assert "slider is at 50%" in told
    assert np.linalg.norm(state.tau) > 1.0
    arm.do("slider", fraction=0.0)
    state = cycle(follower, clock, time_s=0.2)
    assert "slider at 0 %" in state.stop_reason
    follower.close("hold")


def test_power_lost_is_told_and_can_be_left(arm, follower, clock):
    arm.do("power_loss")
    state = cycle(follower, clock, until=lambda s: s.stop_reason, time_s=3.0)
    assert "connection lost" in state.stop_reason


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("local", "local control; switch to remote control"),
        ("estop", "emergency stop (robot); release the button"),
        ("protective_stop", "protective stop; clear the arm's way"),
    ],
)
def test_open_and_doctor_refuse_with_a_remedy(tmp_path, robot, clock, fault, words):
    with EmulatedUr(tmp_path, fault=f'{{"fault": "{fault}"}}') as arm:
        follower = UrFollower(UrConfig(host=arm.host), robot, clock)
        found = list(follower.diagnose())
        assert any(words in text for is_well, text in found if not is_well), found
        with pytest.raises(DeviceError) as caught:
            follower.open()
        assert words in str(caught.value)


def test_an_arm_without_power_gets_it_at_the_opening(tmp_path, robot, clock):
    with EmulatedUr(tmp_path, fault='{"fault": "power_off"}') as arm:
        follower = UrFollower(UrConfig(host=arm.host), robot, clock)
        assert any("no power" in text for _, text in follower.diagnose())
        follower.open()
        assert follower.read().stop_reason == ""
        follower.close("off")


def test_another_model_and_an_address_without_a_robot_are_refused(
    tmp_path, robot, clock
):
    with EmulatedUr(tmp_path, model="ur10e") as arm:
        follower = UrFollower(UrConfig(host=arm.host), robot, clock)
        with pytest.raises(DeviceError, match="expected the controller of a UR5"):
            follower.open()
        assert any("of a UR10" in text for _, text in follower.diagnose())
    follower = UrFollower(UrConfig(host=arm.host), robot, clock)
    with pytest.raises(DeviceError, match="its dashboard at port 29999"):
        follower.open()
