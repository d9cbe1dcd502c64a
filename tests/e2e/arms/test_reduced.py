"""A first run with a robot: slow, reduced mode, engaged too (C2)."""

from __future__ import annotations

import numpy as np

from paprle import Episode
from paprle.cli import main
from paprle.config import resolve
from paprle.ipc.process import WORKSPACE
from paprle.robot import RobotModel


def test_a_reduced_session_keeps_tool_and_joints_slow(tmp_path, own_motion):
    out = tmp_path / "out"
    words = ["leader=offline", "follower=piper", f"leader.path={own_motion}"]
    words += ["leader.speed=5", "session.reduced=true", "env=kinematic"]

    main(["run", *words, "session.clock=virtual", f"record.dir={out}"])

    plan = resolve(["leader=offline", "follower=piper", "env=kinematic"])
    robot = RobotModel.from_settings(plan.robot, "piper", WORKSPACE)
    q_cmd = Episode.open(out / "episode_000000.mcap").gate["q_cmd"]
    places = np.array([robot.limbs["arm"].fk(q[:6]).translation for q in q_cmd])
    h = 0.005  # [s] the kinematic robot's period
    tool = np.linalg.norm(np.diff(places, axis=0), axis=1) / h
    joints = np.abs(np.diff(q_cmd[:, :6], axis=0)) / h

    assert 0.2 < tool.max() <= 0.25 * 1.001
    assert (joints.max(axis=0) <= 0.25 * robot.info.dq_max[:6] * 1.001).all()
