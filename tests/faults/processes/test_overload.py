"""Late ticks, a slow IK, a slow leader and a busy machine (row 18)."""

from __future__ import annotations

import signal
import subprocess
import sys

import numpy as np
import pytest
from running import judge

from paprle.contracts.types import GateState, SessionState
from paprle.gate.reasons import Reason

pytestmark = [pytest.mark.process, pytest.mark.timed]

BREAKER = ["leader=breaker", "follower=piper", "env=kinematic", "session.episodes=1"]
SOLVE = "leader.site=paprle.retargeting.retarget:Retargeting.solve"
TICK = "paprle.session.core:Core.step"
PERIOD = "paprle.gate.gate:Gate.step"
STALL = 0.02  # [s] safety.md amendments, K2


@pytest.fixture
def hogs():
    spin = [sys.executable, "-c", "while True: pass"]
    running = [subprocess.Popen(spin) for _ in range(4)]
    yield running
    for process in running:
        process.kill()
        process.wait()


def check_one_step_a_period(episode):
    """Nothing was sent twice in a period, and all of it is within the limits."""
    verdict = judge(episode)
    assert verdict.is_ok, str(verdict)
    gate = episode.gate
    assert (np.diff(gate["k"].astype(np.int64)) == 1).all()
    # a period with STALLED sends nothing, and the next may follow at once
    is_sent = gate["reasons"] >> np.uint64(Reason.STALLED) & np.uint64(1) == 0
    assert np.diff(gate["stamp_ns"][is_sent]).min() >= 0.75e6 * 5
    check_that_stalls_hold(gate)


def check_that_stalls_hold(gate):
    """A gate that missed three periods, and 20 ms, holds; it says how late it was."""
    gap = np.diff(gate["stamp_ns"]) * 1e-9
    has_stalled = np.flatnonzero(gap[:-1] > STALL + 0.01)
    # one that stalls after it has looked at the clock holds with the next
    states = gate["state"]
    is_engaged = (states[has_stalled + 1] == GateState.ENGAGED) & (
        states[has_stalled + 2] == GateState.ENGAGED
    )
    assert not is_engaged.any()
    n = gate["n_overruns"].astype(np.int64)
    counted = n[2:] - n[:-2]  # what is late inside a period is counted with the next
    assert (counted[gap[:-1] > 0.012] >= 1).all(), "two periods late, and not counted"


@pytest.mark.nightly
@pytest.mark.parametrize("periods", [1, 5])
def test_a_slow_ik_makes_late_ticks_that_are_counted_and_dropped(
    start, outside, periods
):
    session = start(
        *BREAKER, SOLVE, f"leader.action={0.005 * periods}", "leader.after=50",
        "session.duration=1.5", env=outside,
    )  # fmt: skip

    assert session.wait_gone() == 0, session.text()

    episode = session.episode()
    check_one_step_a_period(episode)
    assert "missed deadlines" in session.text()
    assert episode.ticks["n_overruns"][-1] > 20
    engaged = episode.ticks["state"] == SessionState.ENGAGED
    assert np.diff(episode.ticks["stamp_ns"][engaged]).max() < 0.2e9


def test_an_ik_that_hangs_for_50_periods_holds_the_arm(start, outside):
    session = start(
        *BREAKER, SOLVE, "leader.action=once 0.25", "leader.after=100",
        "session.duration=1.5", env=outside,
    )  # fmt: skip

    assert session.wait_gone() == 0, session.text()

    episode = session.episode()
    check_one_step_a_period(episode)
    assert GateState.HOLD in episode.gate["state"]


@pytest.mark.nightly
def test_a_leader_that_answers_slowly_is_held_and_can_be_left(start, outside):
    session = start(
        *BREAKER, "leader.site=outsider:Breaker.latest", "leader.action=0.3",
        "leader.after=400", env=outside,
    )  # fmt: skip
    session.wait_for("CLUTCHED")
    session.find_pids()
    session.kill("session", signal.SIGINT)

    assert session.wait_gone() == 128 + signal.SIGINT
    check_one_step_a_period(session.episode())


@pytest.mark.nightly
def test_a_session_that_collects_1500000_objects_misses_ticks_and_breaks_no_limit(
    start, outside
):
    session = start(
        *BREAKER, f"leader.site={TICK}", "leader.action=collect", "leader.after=150",
        "session.duration=1.5", env=outside,
    )  # fmt: skip

    assert session.wait_gone() == 0, session.text()

    episode = session.episode()
    check_one_step_a_period(episode)
    ticks = episode.ticks
    worst = int(np.diff(ticks["stamp_ns"]).argmax())
    assert ticks["stamp_ns"][worst + 1] - ticks["stamp_ns"][worst] > STALL * 1e9
    assert ticks["n_overruns"][worst + 2] > ticks["n_overruns"][worst]
    assert ticks["k"][worst + 1] == ticks["k"][worst] + 1, "no tick is made up for"


@pytest.mark.nightly
def test_a_gate_that_collects_1500000_objects_holds_and_goes_on_by_itself(
    start, outside
):
    session = start(
        *BREAKER, f"leader.site={PERIOD}", "leader.action=collect", "leader.after=150",
        "session.duration=2.0", env=outside,
    )  # fmt: skip

    assert session.wait_gone() == 0, session.text()

    episode = session.episode()
    check_one_step_a_period(episode)
    stalled = episode.gate["reasons"] & np.uint64(1 << Reason.STALLED) > 0
    assert (episode.gate["state"][stalled] == GateState.HOLD).any()
    states = [e["after"] for e in episode.events if e["event"] == "state"]
    assert states.count("ENGAGED") >= 2, states


@pytest.mark.nightly
@pytest.mark.usefixtures("hogs")
def test_four_busy_neighbours_break_no_limit(start, outside):
    session = start(*BREAKER, "session.duration=2.0", env=outside)

    assert session.wait_gone(40.0) == 0, session.text()

    check_one_step_a_period(session.episode())
