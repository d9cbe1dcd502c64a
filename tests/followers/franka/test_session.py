"""Sessions with the emulated arm, as a user types them; judged at the arm's side."""

from __future__ import annotations

import time

import numpy as np
import pytest
from franka_rig import (
    ORACLES,
    PUNCTUAL,
    EmulatedFranka,
    find_late,
    find_punctuality,
    find_rest,
    wait_until,
)
from piper_rig import RealClock, load
from running import RunningSession

from paprle.followers.franka.config import FrankaConfig
from paprle.followers.franka.follower import FrankaFollower
from paprle_emulators.franka.protocol import Mode

pytestmark = [pytest.mark.process, pytest.mark.timed]

MOTION = (
    "leader=autopilot",
    "leader.size=0.1",
    "leader.speed=0.25",
    "leader.laps=100",
    "session.episodes=1",
)
SETTLED = 1.0  # [s] a gate that brakes, then 0.35 s from full speed
MOVING = 0.05  # [rad/s]
IN_FLIGHT = 100_000_000  # [ns] until the unit's word has come


@pytest.fixture
def start(tmp_path):
    ends = []

    def start_one(*args, model="fr3", ideal=True):
        pytest.importorskip(ORACLES[model].package)
        arm = EmulatedFranka(tmp_path, model, ideal=ideal)
        session = RunningSession([*arm.args, *MOTION, *args], tmp_path / "rec")
        ends.extend((session.end, arm.end))
        session.wait_for("ENGAGED")
        session.find_pids()
        wait_until(lambda: np.abs(arm.read().dq[-50:]).max() > MOVING, 30.0)
        return arm, session

    yield start_one
    for end in ends:
        end()


def check(arm, at_ns):
    """At rest soon after, every command within the limits; returns the journal."""
    record = arm.read()
    before = record.dq[record.state_stamps < at_ns][-200:]
    assert np.abs(before).max() > MOVING, "it did not move"
    verdict = arm.judge()
    assert verdict.is_ok, verdict
    rest = find_rest(record, at_ns)
    assert rest < SETTLED, f"rest after {rest:.3f} s"
    return record


STOPS = {
    "collision": "joint_reflex",
    "user_stop": "user stop",
    "cable": "state_lost",
    "power_off": "state_lost",
}
EACH_RUN = {("fr3", "collision"), ("panda", "collision")}


@pytest.mark.parametrize(
    ("model", "fault"),
    [
        pytest.param(
            model,
            fault,
            marks=[] if (model, fault) in EACH_RUN else pytest.mark.nightly,
        )
        for model in ORACLES
        for fault in STOPS
    ],
)
def test_an_arm_that_stops_is_moved_no_more(start, model, fault):
    words = STOPS[fault]
    arm, session = start(model=model)

    at_ns = arm.do(fault)

    assert session.wait_gone() == 4
    assert words in session.text()
    wait_until(lambda: arm.read().state_stamps[-1] > at_ns + 8 * IN_FLIGHT, 5.0)
    record = check(arm, at_ns)
    late = record.state_stamps > at_ns + 6 * IN_FLIGHT
    assert np.ptp(record.q[late], axis=0).max() < 2e-3


@pytest.mark.nightly
@pytest.mark.parametrize("model", ORACLES)
@pytest.mark.parametrize("victim", ["gate", "session", "leader"])
def test_the_arm_rests_after_any_kill(start, model, victim):
    arm, session = start(model=model)

    at_ns = session.kill(victim)
    session.wait_gone()
    time.sleep(0.5)

    record = check(arm, at_ns)
    assert record.flags[-1, 1] != Mode.REFLEX, "it ended in order"


@pytest.mark.nightly
@pytest.mark.timeout(200)
@pytest.mark.parametrize("model", ORACLES)
def test_a_minute_is_within_the_limits_and_ends_in_order(start, model):
    arm, session = start(model=model)

    time.sleep(60.0)
    assert session.process.poll() is None, session.text()
    session.process.terminate()
    session.wait_gone()

    record = arm.read()
    verdict = arm.judge()
    assert verdict.is_ok, verdict
    assert record.flags[-1, 1] == Mode.IDLE
    assert (record.flags[:, 3] == -1).all(), "no error"


@pytest.fixture(params=ORACLES)
def punctual(tmp_path, request):
    """Skip where this computer cannot hold 1 kHz, as ``paprle doctor`` measures it."""
    model = request.param
    pytest.importorskip(ORACLES[model].package)
    arm = EmulatedFranka(tmp_path, model, ideal=False)
    try:
        config, robot = FrankaConfig(host=arm.host), load(model)
        follower = FrankaFollower(config, robot, RealClock())
        *_, (is_steady, words) = follower.diagnose()
    finally:
        arm.end()
    if not is_steady:
        pytest.skip(words)
    return model


@pytest.mark.nightly
@pytest.mark.timeout(200)
def test_a_unit_that_does_not_wait_gets_its_commands_in_time(start, punctual):
    arm, session = start(model=punctual, ideal=False)

    time.sleep(20.0)
    assert session.process.poll() is None, session.text()
    session.process.terminate()
    session.wait_gone()

    record = arm.read()
    assert find_late(record) == ""
    assert find_punctuality(record).worst >= 1.0 - 5 * (1.0 - PUNCTUAL)
    assert arm.judge().is_ok
