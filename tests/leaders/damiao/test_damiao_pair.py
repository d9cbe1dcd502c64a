"""Two emulated arms lead and follow, as typed; judged at the motors and at the hand."""

from __future__ import annotations

import time

import numpy as np
import pytest
from damiao_rig import EmulatedDamiao, find_rest_ns, judge
from running import RunningSession

from paprle.hardware.damiao.models import ARMS

pytest.importorskip("can")
pytestmark = [pytest.mark.process, pytest.mark.timed, pytest.mark.timeout(200)]

LED = "grasp_all:16,sines"
BUSY = "gate.state_latch_after=1.0"  # a busy machine brings states late
STEP = 54.0 / 4095  # [N·m] spec: of 12 bits over ±54 N·m
MOTOR_TIMEOUT = 0.6  # [s] the motors' 400 ms without a frame, and their record
SWUNG = 0.2  # [J] what moving links store for a moment


@pytest.fixture
def start(tmp_path):
    ends = []

    def start_pair(model, other=None):
        led = EmulatedDamiao(tmp_path / "leader", model, motion=LED, weight=1.0)
        arm = EmulatedDamiao(tmp_path / "follower", other or model)
        words = [*led.args, *arm.args]
        session = RunningSession([*words, "session.episodes=1", BUSY], tmp_path / "rec")
        ends.extend((session.end, led.end, arm.end))
        session.wait_for("ENGAGED")
        session.find_pids()
        return led, arm, session

    yield start_pair
    for end in ends:
        end()


def check_leader(led, fault_ns=None):
    """No stiffness, bounded torques, and no energy for the hand before a fault.

    Afterwards the arm sinks, and its weight is work for the hand that holds it.
    """
    record = led.read()
    most = np.array(ARMS[led.model].tau)
    assert record.kp.max() == 0.0
    assert np.all(np.nanmax(np.abs(record.tau_ff), axis=0) <= most + STEP)
    work = record.work.sum(axis=1)
    if fault_ns is not None:
        work = work[record.state_stamps[: len(work)] < fault_ns]
    assert work.min() > -SWUNG
    return record


def check_follower(arm, session):
    record = arm.read()
    verdicts = judge(record, session.episode().robot_info, arm.table.n)
    assert all(verdict.is_ok for verdict in verdicts), "\n".join(map(str, verdicts))
    return record


def find_distance(led, follower, from_ns, n):
    """The follower's distance from the leader's joints, each instant's largest."""
    t = np.arange(from_ns, min(led.state_stamps[-1], follower.state_stamps[-1]), 10**7)
    both = [
        np.array([np.interp(t, r.state_stamps, r.q[:, k]) for k in range(n)])
        for r in (led, follower)
    ]
    return np.abs(both[0] - both[1]).max(axis=0)


@pytest.mark.nightly
def test_an_arm_leads_a_simulated_one(tmp_path):
    led = EmulatedDamiao(tmp_path / "leader", "openarm", motion=LED, weight=1.0)
    words = ["follower=openarm", "env=kinematic", "session.episodes=1"]
    session = RunningSession([*led.args, *words], tmp_path / "rec")
    try:
        session.wait_for("ENGAGED")
        session.find_pids()
        time.sleep(3.0)
        session.process.terminate()
        session.wait_gone()
        time.sleep(MOTOR_TIMEOUT)
        record = check_leader(led)
    finally:
        session.end()
        led.end()

    assert record.work[-1].sum() > 0.0, "the hand has led it"
    assert set(record.statuses[-1]) == {"d"}, "it sank, and its motors brake"
    text = session.text()
    assert "joint by joint (built alike)" in text
    assert "without torque they fall" in text
    assert "it was killed" not in text


# two arms and their session are nearly two cores of real-time work
@pytest.mark.nightly
@pytest.mark.parametrize("model", ["openarm", "yam"])
def test_one_arm_leads_the_other_for_a_minute(start, model):
    led, arm, session = start(model)
    begin_ns, n = time.monotonic_ns(), ARMS[model].n

    time.sleep(60.0)
    assert session.process.poll() is None, session.text()
    end_ns = time.monotonic_ns()
    session.process.terminate()
    session.wait_gone()

    record, followed = check_leader(led), check_follower(arm, session)
    gaps = np.diff(record.stamps[record.stamps < end_ns]) * 1e-6
    assert np.percentile(gaps, 99) < 30.0
    assert record.work[-1].sum() > 0.0, "the hand has led it"
    is_led = record.state_stamps < end_ns
    distance = find_distance(record, followed, begin_ns, n)[:6000]
    assert np.median(distance) < 0.1, session.text()
    assert set(np.array(record.statuses)[is_led][-1]) == {"1"}
    assert "it was killed" not in session.text()


@pytest.mark.nightly
def test_a_yam_leads_an_openarm_by_its_pose(start):
    led, arm, session = start("yam", "openarm")

    time.sleep(6.0)
    session.process.terminate()
    session.wait_gone()

    check_leader(led)
    check_follower(arm, session)
    assert "joint by joint" not in session.text()


@pytest.mark.nightly
def test_a_killed_leader_leaves_its_arm_braked_and_the_follower_at_rest(start):
    led, arm, session = start("openarm")
    time.sleep(2.0)

    at_ns = session.kill("leader")
    session.wait_gone()

    record, followed = check_leader(led), check_follower(arm, session)
    after = record.state_stamps > at_ns + 600_000_000
    assert {set(flags) == {"d"} for flags in np.array(record.statuses)[after]} == {True}
    assert find_rest_ns(followed, at_ns, 0.3) < at_ns + 4_000_000_000


@pytest.mark.nightly
@pytest.mark.parametrize("fault", ["coil_hot", "power_off", "cable"])
def test_a_leader_that_is_not_well_lets_go(start, fault):
    """Afterwards the arm brakes, and no motor gets its torque back."""
    led, arm, session = start("openarm")
    time.sleep(1.0)

    at_ns = led.do(fault)
    session.wait_for("CLUTCHED")
    time.sleep(2.0)
    led.do("none")
    led.do("power_on")
    time.sleep(2.0)
    session.process.terminate()
    session.wait_gone()

    record, followed = check_leader(led, at_ns), check_follower(arm, session)
    assert not [s for s in record.specials if s[0] > at_ns and s[2] == 0xFC]
    late = (followed.stamps > at_ns + 1_500_000_000) & (followed.kp[:, 0] > 0.0)
    goals = followed.q_des[late][:, : arm.table.n]
    assert np.nanmax(np.ptp(goals, axis=0)) < 0.02
