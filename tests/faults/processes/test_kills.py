"""kill -9 of every role while the arm moves fast (safety.md K3, fault 14)."""

from __future__ import annotations

import random
import signal
import time

import numpy as np
import pytest
from cells import spread
from machine import undisturbed
from running import SLACK, find_rest_ns, find_speed_share, judge

from paprle.contracts.types import SessionState
from paprle.hosts.exit_codes import NOT_RECORDED

pytestmark = [pytest.mark.process, pytest.mark.timed]

TRIALS = spread(range(23), 0)
DETECTION = {"session": 0.012, "leader": 0.02}  # [s] two gate periods; a tick and one


def wait_until_fast(session, rng):
    """Somewhere in the motion; the caller checks how fast it was."""
    session.wait_for("ENGAGED")
    session.find_pids()
    time.sleep(0.25 + rng.uniform(0.0, 0.35))  # the first turn is 1.06 s away


def kill_moving(start, fast_motion, name, seed, number=signal.SIGKILL):
    rng = random.Random(seed)
    session = start(*fast_motion, "retarget.mode=joints")
    wait_until_fast(session, rng)
    at_ns = session.kill(name, number)
    return session, at_ns


def check_rest(session, at_ns, name):
    episode = session.episode()
    robot = episode.robot_info
    v_over_a = float((robot.dq_max / robot.ddq_max)[:6].max())
    h = float(episode.header["gate_period"])
    rest = (find_rest_ns(episode, at_ns) - at_ns) * 1e-9
    bound = DETECTION[name] + h + v_over_a + SLACK

    assert rest <= bound, f"rest after {rest:.3f} s, allowed {bound:.3f} s"
    verdict = judge(episode)
    assert verdict.is_ok, str(verdict)
    return episode


@pytest.mark.parametrize("seed", TRIALS)
def test_a_killed_session_leaves_an_arm_at_rest_and_a_readable_recording(
    start, fast_motion, seed
):
    def kill_and_judge():
        session, at_ns = kill_moving(start, fast_motion, "session", seed)

        code = session.wait_gone()

        assert code == -signal.SIGKILL
        episode = check_rest(session, at_ns, "session")
        assert find_speed_share(episode, at_ns) > 0.8, "killed at a turn"
        lost = (at_ns - int(episode.ticks["stamp_ns"][-1])) * 1e-9
        assert lost < 0.1

    undisturbed(kill_and_judge)


@pytest.mark.parametrize("seed", TRIALS)
def test_a_killed_leader_stops_the_arm_and_ends_the_session(start, fast_motion, seed):
    session, at_ns = kill_moving(start, fast_motion, "leader", seed)

    code = session.wait_gone()

    assert code == 3
    assert "leader: the process ended" in session.text()
    check_rest(session, at_ns, "leader")


@pytest.mark.nightly
@pytest.mark.parametrize("seed", TRIALS)
def test_a_killed_recorder_changes_nothing_but_the_recording(start, fast_motion, seed):
    session, at_ns = kill_moving(start, fast_motion, "recorder", seed)
    time.sleep(0.5)

    assert session.process.poll() is None
    session.kill("session", signal.SIGINT)
    code = session.wait_gone()

    assert code == NOT_RECORDED
    assert "RECORDING FAILED: episode 0: the last" in session.text()
    episode = session.episode()
    assert (at_ns - int(episode.gate["stamp_ns"][-1])) * 1e-9 < 0.1
    engaged = episode.ticks["state"] == SessionState.ENGAGED
    assert engaged[-1], "motion went on"


@pytest.mark.parametrize("seed", TRIALS)
def test_a_killed_gate_is_reported_and_ends_the_session(start, fast_motion, seed):
    session, at_ns = kill_moving(start, fast_motion, "gate", seed)

    code = session.wait_gone()

    assert code == 3
    assert "gate: the process ended: it was killed" in session.text()
    episode = session.episode()
    assert (at_ns - int(episode.gate["stamp_ns"][-1])) * 1e-9 < 0.1


@pytest.mark.nightly
def test_a_stopped_session_process_brakes_and_sends_no_burst(start, fast_motion):
    session, at_ns = kill_moving(start, fast_motion, "session", 1, signal.SIGSTOP)
    time.sleep(0.5)
    session.kill("session", signal.SIGCONT)
    time.sleep(0.5)
    session.kill("session", signal.SIGINT)
    session.wait_gone()

    episode = session.episode()
    gate = episode.gate
    during = (gate["stamp_ns"] > at_ns + 0.35e9) & (gate["stamp_ns"] < at_ns + 0.45e9)
    assert np.abs(gate["dq_cmd"][during]).max() == 0.0
    assert judge(episode).is_ok


@pytest.mark.nightly
def test_a_stopped_gate_process_sends_no_burst_when_it_goes_on(start, fast_motion):
    session, at_ns = kill_moving(start, fast_motion, "gate", 2, signal.SIGSTOP)
    time.sleep(0.5)
    session.kill("gate", signal.SIGCONT)
    time.sleep(0.5)
    session.kill("session", signal.SIGINT)
    session.wait_gone()

    episode = session.episode()
    verdict = judge(episode)
    assert verdict.is_ok, str(verdict)
    assert (np.diff(episode.gate["stamp_ns"]).max()) > 0.4e9
