"""Rows of safety.md's fault matrix, from emulated servos to the gate (acceptance 5).

The vendor's SDK, the bus, the leader, the session and the gate are the product's; time
is virtual. Each test is named after what must happen; its row stands beside it.
"""

from __future__ import annotations

import numpy as np
import pytest
from puppeteer_step import PuppeteerStep

from paprle.config import resolve
from paprle.contracts.errors import ConfigError
from paprle.gate.reasons import Reason, from_bits
from paprle.hosts import check

SILENCE = 21  # periods: A1's 100 ms and one
LIMP = 45  # periods: the ramp of K4, 200 ms, and one packet a servo to end it
BRAKE = 60  # periods: V / A of the PiPER's joints
FASTEST = 1.0  # [rad/s] of the hand's sines


@pytest.fixture
def driven():
    """An arm that is driven; the oracle judges what was sent."""
    session = PuppeteerStep()
    session.drive()
    assert session.state == "ENGAGED"
    assert not session.is_limp
    yield session
    verdict = session.judge()
    assert verdict.is_ok, str(verdict)


def latched(session):
    return set(from_bits(int(session.status["latched"])))


def expect_hold(session, n=SILENCE):
    """It holds, comes to rest, and is limp before anybody may start again."""
    session.step(n)
    assert session.state == "CLUTCHED"
    session.step(BRAKE)
    assert session.is_at_rest
    assert session.is_limp
    assert "open all grippers" in session.core.note


def expect_wait(session, n=60):
    """It goes on only by a press."""
    still, n_before = session.q_cmd, session.trace().count("ENGAGED")
    session.step(n)
    assert (session.q_cmd == still).all()
    assert session.trace().count("ENGAGED") == n_before


@pytest.mark.parametrize("row", ["1 off", "16 hangs", "23 unplugged"])
def test_a_leader_that_is_away_holds_goes_limp_and_waits_for_a_press(driven, row):
    if row == "23 unplugged":
        driven.bus.wire.unplug()
    else:
        kind = {"1 off": {"fault": "lost", "p": 1.0}}
        driven.faults.cause(kind.get(row, {"fault": "latency", "seconds": 0.5}))
    expect_hold(driven)

    driven.bus.wire.is_plugged = True
    driven.faults.clear()
    for _ in range(800):  # port and servos are looked for twice a second
        driven.step()
        if driven.clock() - driven.device.latest().stamp_ns < 20e6:
            break
    assert driven.device.latest().valid
    expect_wait(driven)
    driven.press("engage", 20)  # a key is no hand on the arm
    assert driven.state == "CLUTCHED"


@pytest.mark.nightly
def test_23_who_comes_back_is_aligned_to_after_a_grip(driven):
    driven.bus.wire.unplug()
    expect_hold(driven)
    driven.bus.wire.is_plugged = True
    driven.rig.play("grasp_all")  # elsewhere than where the follower waits
    states = len(driven.states)

    driven.until("ALIGNING", 1600)
    driven.until("ENGAGED", 1600)

    assert driven.states[states:].count("ALIGNING") > 20
    driven.step(20)
    assert np.abs(driven.q_cmd[:6] - driven.q_truth).max() < 0.05


def test_2_a_stuck_encoder_goes_on_and_its_return_is_no_leap(driven):
    driven.faults.cause({"fault": "stuck", "joint": "joint1"})
    driven.step(100)
    assert driven.state == "ENGAGED"

    driven.faults.clear()
    driven.step(100)

    far = np.abs(driven.q_cmd[:6] - driven.q_truth).max()
    assert driven.state == "CLUTCHED" or far < 0.05


@pytest.mark.parametrize("kind", ["corrupted", "duplicated", "late"])
def test_3_garbage_on_the_line_is_followed_by_nobody(driven, kind):
    driven.faults.cause({"fault": kind, "p": 0.05})

    for _ in range(100):
        driven.step()
        assert np.abs(driven.q_cmd[:6] - driven.q_truth).max() < FASTEST * 0.1

    assert driven.rig.line_faults[driven.limb.spec.port].n_spoilt > 5
    assert driven.state == "ENGAGED"


@pytest.mark.nightly
@pytest.mark.timeout(1800)
def test_3_ten_minutes_of_spoiled_packets_lose_no_loop_and_make_no_jump(driven):
    """Acceptance 5; half a minute of it, of the bus alone, is in every run."""
    driven.faults.cause({"fault": "corrupted", "p": 0.01})
    last, gap_ns, jump = driven.device.latest(), 0, 0.0

    for _ in range(120_000):
        driven.step()
        now = driven.device.latest()
        if now.stamp_ns > last.stamp_ns:
            gap_ns = max(gap_ns, now.stamp_ns - last.stamp_ns)
            moved = np.abs(now.limbs["arm"].q - last.limbs["arm"].q).max()
            jump = max(jump, moved - FASTEST * (now.stamp_ns - last.stamp_ns) * 1e-9)
            last = now

    spoilt = driven.rig.line_faults[driven.limb.spec.port].n_spoilt
    counters, failed = driven.bus.counters, driven.bus.n_failed
    told = f"{spoilt} spoilt, {failed}, {counters}, gap {gap_ns}, jump {jump}"
    assert driven.trace().count("ENGAGED") == 1, told
    assert driven.state == "ENGAGED", told
    assert counters.n_lost == 0, told
    assert spoilt > 5000, told
    assert failed["corrupt"] > 2000, told
    assert gap_ns < 100e6, told
    assert jump < 0.01, told


@pytest.mark.parametrize("leap", [1.0, -3.1])
def test_4_a_leap_in_one_reading_disengages(driven, leap):
    q = driven.q_cmd
    driven.limb.mount(1, 1, driven.limb.spec.servos[1].offset + leap)
    driven.step(2)
    assert driven.state == "CLUTCHED"

    driven.step(BRAKE)
    assert np.abs(driven.q_cmd - q).max() < 0.3
    expect_wait(driven)


@pytest.mark.parametrize(
    ("fault", "stays"),
    [
        ({"fault": "latency", "seconds": 0.2}, False),
        ({"fault": "lost", "p": 0.5}, None),
    ],
    ids=["slow", "intermittent"],
)
def test_5_a_slow_leader_never_engages_to_and_fro(driven, fault, stays):
    driven.faults.cause(fault)
    driven.step(200)

    assert driven.trace().count("ENGAGED") == 1
    assert stays is not False or driven.state == "CLUTCHED"


@pytest.mark.parametrize("n", [1, 5, 50])
def test_18_an_overrun_sends_one_step_a_period_and_holds_if_long(driven, n):
    driven.step(60)  # the hand is under way
    driven.session_speaks = False
    driven.step(n)
    is_at_rest = driven.is_at_rest
    driven.session_speaks = True
    driven.step(2)

    assert is_at_rest == (n == 50)
    assert driven.state == ("CLUTCHED" if n == 50 else "ENGAGED")


def test_18_torque_ends_by_itself_where_its_process_stands_still(driven):
    driven.rig.step(0.05)
    assert not driven.is_limp
    for _ in range(30):
        driven.rig.step(0.0025)

    assert driven.is_limp


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"stamp_ns": 0}, Reason.STATE_LOST),
        ({"dq": np.full(7, 6.0)}, Reason.OVERSPEED),
        ({"stop_reason": "protective stop"}, Reason.FOLLOWER_STOP),
    ],
    ids=["delayed", "overspeed", "protective stop"],
)
def test_21_a_follower_that_lies_stops_and_the_puppeteer_is_limp(
    driven, change, reason
):
    driven.follower.state_changes = change
    driven.step(80)

    assert driven.gate_state == "STOPPED"
    assert reason in latched(driven)
    driven.step(LIMP)
    assert driven.is_limp
    expect_wait(driven)


@pytest.mark.parametrize("change", [np.nan, np.degrees], ids=["garbage", "degrees"])
def test_21_a_state_that_makes_no_sense_holds_and_the_puppeteer_is_limp(driven, change):
    q = driven.follower.q
    driven.follower.state_changes = {"q": change(q) if callable(change) else q * change}
    driven.step(3)

    assert driven.gate_state == "HOLD"
    driven.step(BRAKE)
    assert driven.is_at_rest
    assert driven.is_limp


@pytest.mark.parametrize(
    ("share", "is_stopped"), [(-1.0, True), (0.0, False)], ids=["opposite", "ignores"]
)
def test_22_a_follower_that_disobeys_is_stopped_or_leashed(driven, share, is_stopped):
    start, truth = driven.follower.q.copy(), driven.follower
    for _ in range(250):
        away = share * (truth.q - start)
        driven.follower.state_changes = {"q": start + away, "dq": share * truth.dq}
        driven.step()

    if is_stopped:
        assert driven.gate_state == "STOPPED"
        assert latched(driven) & {Reason.REVERSED, Reason.LAG}
        assert driven.is_limp
    else:
        assert Reason.BLOCKED in from_bits(int(driven.status["reasons"]))
        assert driven.state == "ENGAGED"  # a grasp or a press is no fault


def test_22_a_follower_twice_as_far_is_stopped(driven):
    start, truth = driven.follower.q.copy(), driven.follower
    for _ in range(200):
        away = 2.0 * (truth.q - start)
        driven.follower.state_changes = {"q": start + away, "dq": 2.0 * truth.dq}
        driven.step()

    assert driven.gate_state in {"STOPPED", "HOLD"}
    driven.step(LIMP)
    assert driven.is_limp


def test_32_a_gain_too_high_is_refused_before_anything_opens():
    words = ["leader=puppeteer_piper", "follower=piper", "env=mujoco"]
    loud = "feedback.laws.tracking.k_follower=30"

    with pytest.raises(ConfigError, match="expected 2"):
        check(resolve([*words, loud]))
