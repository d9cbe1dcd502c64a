"""A hand drives one arm, another carries the camera, as a user asks for it."""

import numpy as np
import pytest

from benchmarks.camera_arm.__main__ import measure_camera_arm, play
from benchmarks.camera_arm.judge import Judge
from benchmarks.camera_arm.metrics import find_roughness
from benchmarks.camera_arm.motions import draw_habit, make_picks, write_tum
from benchmarks.camera_arm.rigs import RIGS, draw_way
from paprle.config import resolve
from paprle.contracts.errors import ConfigError
from paprle.contracts.settings.core import GateSettings
from paprle.contracts.settings.retarget import LookSettings
from paprle.contracts.types import GateState
from paprle.hosts.plan import make_plan
from paprle.hosts.virtual import VirtualSession
from paprle.recording.reader import Episode

WORDS = [
    "leader=offline",
    "leader.frame=relative",
    "follower=ur5e_camera",
    "env=kinematic",
    "session.clock=virtual",
    "session.status=false",
    "session.episodes=1",
    "retarget.limbs.arm={from: hand, alignment: view}",
    "retarget.limbs.camera={rule: look_at, of: arm, advice: viewpoint}",
    "advisors.viewpoint.type=viewpoint",
]


def write_reach(path, seconds):
    """A hand that goes 0.2 m to its right and back; in TUM's format."""
    t = np.arange(0.0, seconds, 1 / 60)
    y = -0.1 * (1 - np.cos(2 * np.pi * t / seconds))
    path.write_text(
        "".join(f"{a:.6f} 0 {b:.6f} 0 0 0 0 1\n" for a, b in zip(t, y, strict=True))
    )
    return path


@pytest.mark.nightly
def test_the_camera_follows_the_hand_and_right_is_right(tmp_path):
    motion = write_reach(tmp_path / "reach.txt", 2.0)
    words = [*WORDS, f"leader.path={motion}", f"record.dir={tmp_path / 'out'}"]

    session = VirtualSession(resolve(words))
    end = session.run()

    episode = Episode.open(tmp_path / "out")
    robot = session.plan.robot
    arm, camera = robot.limbs["arm"], robot.limbs["camera"]
    gate = episode.gate[episode.gate["state"] == GateState.ENGAGED]
    T_base = robot.link_places["camera_base"][1]
    first, last = (T_base * camera.fk(camera.take(q)) for q in gate["q_cmd"][[0, -1]])
    way = arm.fk(arm.take(gate["q_cmd"][-1])).translation - last.translation
    angle = np.arccos(last.rotation[:, 2] @ way / np.linalg.norm(way))
    middle = gate["q_cmd"][len(gate) // 2]
    moved = (
        arm.fk(arm.take(middle)).translation
        - arm.fk(arm.take(gate["q_cmd"][0])).translation
    )
    assert end == "done"
    assert np.linalg.norm(last.translation - first.translation) > 0.1
    assert angle < np.deg2rad(15)  # it looks ahead of a hand that moves
    right, down = moved @ first.rotation[:, 0], moved @ first.rotation[:, 1]
    assert right > 0.12  # in a picture that has turned a little meanwhile
    assert abs(down) < 0.5 * right
    p = episode.target["camera"][1][:, :3]
    p = p[np.isfinite(p).all(axis=1)]
    jumps = np.linalg.norm(np.diff(p, axis=0), axis=1)
    assert jumps.max() < 0.5 * 0.005 + 1e-6  # never above its speed


@pytest.mark.nightly
@pytest.mark.parametrize("seed", [0, 1, 5])  # 5: nothing was chosen by it
def test_commands_to_the_camera_arm_are_as_smooth_as_set(tmp_path, seed):
    write_tum(tmp_path / "picks.txt", *make_picks(12.0, seed))
    words = [f"leader.path={tmp_path / 'picks.txt'}", f"record.dir={tmp_path / 'out'}"]
    resolved = resolve([*WORDS, *words])

    VirtualSession(resolved).run()

    judge = Judge(resolved, Episode.open(tmp_path / "out"))
    acceleration, jerk = find_roughness(*judge.sent)
    assert acceleration <= LookSettings().max_acceleration
    assert jerk <= LookSettings().max_jerk
    assert np.ptp(judge.sent[1], axis=0).max() > 0.1


@pytest.mark.sim
@pytest.mark.nightly
@pytest.mark.parametrize(
    ("follower", "seed"),
    [("ur5e_camera", 103), ("ur5e_camera", 105), ("papras_7dof_2arm", 103)],
)  # by no seed of these was anything chosen
def test_in_mujoco_the_hand_is_in_view_while_a_ball_goes_round(
    tmp_path, follower, seed
):
    rig, motion = RIGS[follower], tmp_path / "picks.txt"
    way = draw_way(seed, rig.middle)
    write_tum(motion, *make_picks(12.0, seed, draw_habit(seed)))

    resolved, episode = play(rig, way, motion, tmp_path, ())

    judge = Judge(resolved, episode, way)
    seen = measure_camera_arm(judge, episode, tmp_path)
    assert seen["in_frame"] >= 0.95
    assert seen["free"] >= 0.85
    assert seen["roll_deg"] <= 5.0
    assert seen["asked_a"] <= LookSettings().max_acceleration * (1 + 1e-6)
    assert seen["asked_jerk"] <= LookSettings().max_jerk * (1 + 1e-6)
    assert seen["arms_apart"] >= GateSettings().clearance_self
    assert seen["oracle"].startswith("ok")


def test_advice_of_nobody_is_refused(tmp_path):
    motion = write_reach(tmp_path / "reach.txt", 1.0)
    words = [*WORDS[:-1], f"leader.path={motion}"]

    with pytest.raises(ConfigError, match="camera.advice: expected an advisor's name"):
        make_plan(resolve(words))
