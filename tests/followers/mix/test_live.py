"""A UR5e and an xArm 7, emulated, as one robot in a session as typed."""

from __future__ import annotations

import signal
import time

import numpy as np
import pytest
from mixed_arms import describe
from running import RunningSession
from ur_rig import QUANTUM as UR_QUANTUM
from ur_rig import EmulatedUr
from worlds import Arrived, judge_arrived
from xarm_rig import QUANTUM as XARM_QUANTUM
from xarm_rig import EmulatedXArm

from paprle.config.folders import VARIABLE

pytest.importorskip("rtde_control")
pytest.importorskip("xarm")
pytestmark = [pytest.mark.process, pytest.mark.timed, pytest.mark.nightly]

MOTION = (
    "leader=autopilot",
    "leader.size=0.1",
    "leader.laps=100",
    "retarget.limb_map={left: hand, right: hand}",
    "session.episodes=1",
    "gate.accept_unattended=true",
)
XARM_HOME = "0,-0.2007,0,0.8064,0,1.0069,0"
UR = range(6)
XARM = range(6, 13)
PERIOD = 0.005  # [s] as the xArm, the slower one


@pytest.fixture
def start(tmp_path, monkeypatch):
    """Start a session of both arms; return them and it once both move."""
    describe(tmp_path, "ur5e@left", "xarm7@right")
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))  # no other rig's notices
    for name in ("ur", "xarm"):
        (tmp_path / name).mkdir()
    ends = []

    def start_one():
        ur = EmulatedUr(tmp_path / "ur", model="ur5e")
        ends.append(ur.end)
        xarm = EmulatedXArm(tmp_path / "xarm", q=XARM_HOME)
        ends.append(xarm.end)
        words = ["follower=duo", "env=mix"]
        words += [f"env.left.host={ur.host}", f"env.right.host={xarm.host}"]
        session = RunningSession([*words, *MOTION], tmp_path / "rec")
        ends.append(session.end)
        session.wait_for("ENGAGED")
        session.find_pids()
        time.sleep(1.5)
        return ur, xarm, session

    yield start_one
    for end in reversed(ends):
        end()


def check_goals(ur, xarm, session):
    """Judge all goals at each arm's side."""
    robot, right, left = session.episode().robot_info, xarm.read(), ur.read()
    for arrived in (
        Arrived("servoj", [*UR], left.stamps, left.goals, UR_QUANTUM),
        Arrived("box", [*XARM], right.stamps, right.commands, XARM_QUANTUM),
    ):
        assert len(arrived.q) > 100
        verdicts = judge_arrived(arrived, robot, PERIOD)
        assert all(verdict.is_ok for verdict in verdicts), "\n".join(map(str, verdicts))


@pytest.mark.timeout(240)
@pytest.mark.parametrize(
    ("which", "fault", "told"),
    [("left", "protective_stop", "left: "), ("right", "collision", "right: ")],
)
def test_both_arms_move_and_a_stop_of_one_brakes_both(start, which, fault, told):
    ur, xarm, session = start()

    (ur if which == "left" else xarm).do(fault)

    assert session.wait_gone() == 4
    assert told in session.text()
    frames = session.episode().gate
    q = np.asarray(frames["q_cmd"])
    for ids in (UR, XARM):
        assert np.ptp(q[:, ids], axis=0).max() > 0.02, "it moved"
        assert np.ptp(q[-20:, ids], axis=0).max() == 0.0, "it stands"
    assert len(ur.read().goals) > 100
    assert len(xarm.read().commands) > 100


@pytest.mark.timeout(240)
def test_a_minute_of_motion_keeps_the_limits_of_both_arms(start):
    ur, xarm, session = start()

    time.sleep(60.0)
    session.kill("session", signal.SIGINT)

    assert session.wait_gone() == 130
    check_goals(ur, xarm, session)
