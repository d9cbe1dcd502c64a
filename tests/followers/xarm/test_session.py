"""Sessions with the emulated arm, as a user types them; judged at the arm's side."""

from __future__ import annotations

import time

import numpy as np
import pytest
from running import RunningSession
from worlds import Arrived, judge_arrived
from xarm_rig import QUANTUM, EmulatedXArm, count_targets, find_rest_ns

pytest.importorskip("xarm")
pytestmark = [pytest.mark.process, pytest.mark.timed]

MOTION = (
    "leader=autopilot",
    "leader.size=0.1",
    "leader.speed=0.25",
    "leader.laps=100",
    "session.episodes=1",
)
PERIOD = 0.005  # [s]
SETTLED = 0.3  # [s] a braking gate, five lags of the servo, and a shared machine
IN_FLIGHT = 60_000_000  # [ns] until the box's word has come, and the gate has heard it
HOMES = {
    "xarm7": "0,-0.2007,0,0.8064,0,1.0069,0",
    "lite6": "0,0.3048,0.8338,0,0.529,0",
}


@pytest.fixture
def start(tmp_path):
    ends = []

    def start_one(model="xarm7", *args):
        arm = EmulatedXArm(tmp_path, model, q=HOMES[model])
        session = RunningSession([*arm.args, *MOTION, *args], tmp_path / "rec")
        ends.extend((session.end, arm.end))
        session.wait_for("ENGAGED")
        session.find_pids()
        time.sleep(0.7)
        return arm, session

    yield start_one
    for end in ends:
        end()


def check_targets(record, session):
    """Every target within the limits, apart from stalls of this machine."""
    ids = list(range(record.commands.shape[1]))
    arrived = Arrived("box", ids, record.stamps, record.commands, QUANTUM)
    verdicts = judge_arrived(arrived, session.episode().robot_info, PERIOD)
    assert all(verdict.is_ok for verdict in verdicts), "\n".join(map(str, verdicts))


def check(arm, session, at_ns):
    """At rest soon after, every target within the limits; returns the journal."""
    record = arm.read()
    before = record.dq[(record.state_stamps < at_ns)][-50:]
    assert np.abs(before).max() > 0.1, "it did not move"
    check_targets(record, session)
    rest = (find_rest_ns(record, at_ns) - at_ns) * 1e-9
    assert rest < SETTLED, f"rest after {rest:.3f} s"
    return record


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("collision", "C31"),
        pytest.param("estop", "C1", marks=pytest.mark.nightly),
        pytest.param("cable", "state_lost", marks=pytest.mark.nightly),
        pytest.param("silence", "state_lost", marks=pytest.mark.nightly),
        pytest.param("power_off", "state_lost", marks=pytest.mark.nightly),
        pytest.param("pause", "paused", marks=pytest.mark.nightly),
    ],
)
def test_an_arm_that_stops_is_told_nothing_more(start, fault, words):
    arm, session = start()

    at_ns = arm.do(fault)

    assert session.wait_gone() == 4
    assert words in session.text()
    record = check(arm, session, at_ns)
    last_ns = record.state_stamps[-1]
    assert count_targets(record, at_ns + 4 * IN_FLIGHT, last_ns) == 0


@pytest.mark.nightly
@pytest.mark.parametrize("victim", ["gate", "session", "leader"])
def test_the_arm_rests_with_power_after_any_kill(start, victim):
    arm, session = start("lite6")

    at_ns = session.kill(victim)
    session.wait_gone()
    time.sleep(0.3)

    record = check(arm, session, at_ns)
    assert record.flags[-1, 3], "it holds"


@pytest.mark.nightly
@pytest.mark.timeout(200)
@pytest.mark.parametrize("model", HOMES)
def test_a_minute_is_within_the_limits_and_on_time(start, model):
    arm, session = start(model)

    time.sleep(60.0)
    assert session.process.poll() is None, session.text()
    session.process.terminate()
    session.wait_gone()

    record = arm.read()
    check_targets(record, session)
    assert record.counts.all(), "every target was taken"
    gaps = np.diff(record.stamps) * 1e-6
    assert np.percentile(gaps, 99) < 15.0
    assert len(record.stamps) > 55 * 200


@pytest.mark.nightly
def test_a_hasty_leader_does_not_reach_the_speed_at_which_the_box_stops(start):
    arm, session = start("lite6", "leader.speed=1.5", "leader.size=0.2")
    time.sleep(4.0)

    assert session.process.poll() is None, session.text()
    assert "C60" not in session.text()
    assert np.abs(arm.read().dq).max() > 0.5, "it was in haste"
