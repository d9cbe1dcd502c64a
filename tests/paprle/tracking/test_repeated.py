"""A report repeats what a session said of its tracking: the same words and times."""

import json

import numpy as np
import pinocchio as pin
import pytest
from cells import spread

from paprle.cli import main
from paprle.config import resolve
from paprle.hosts import exit_codes
from paprle.hosts.virtual import VirtualSession
from paprle_lab.evaluation.reporting.report import evaluate

ROBOT = ["follower=piper", "env=kinematic", "session.clock=virtual"]
AT = np.array([0.333, 0.0, 0.3575])
HOME_XYZW = np.array([0.0, 0.5784, 0.0, 0.81575])


def write_poses(folder, p, quats=None):
    """Write poses at 50 Hz, positions in the robot's base."""
    t = 0.02 * np.arange(len(p))
    quats = np.tile(HOME_XYZW, (len(p), 1)) if quats is None else quats
    path = folder / "way.txt"
    np.savetxt(path, np.column_stack([t, p, quats]))
    return ["leader=offline", f"leader.path={path}", "leader.frame=absolute"]


def write_joints(folder, q):
    """Write joints at 250 Hz."""
    path = folder / "joints.csv"
    names = ",".join(f"joint{k}" for k in range(1, 7))
    rows = [f"{0.004 * k:.3f}," + ",".join(map(str, row)) for k, row in enumerate(q)]
    path.write_text(f"t,{names}\n" + "\n".join(rows) + "\n")
    return ["leader=offline", f"leader.path={path}"]


def swing(n, size):
    """Return positions that go out along x and come back, size in m."""
    way = size * np.sin(np.linspace(0.0, np.pi, n))
    return AT + np.outer(way, [1.0, 0.0, 0.0])


def make_reach(folder):
    return write_poses(folder, swing(250, 0.5))


def make_race(folder):
    t = 0.02 * np.arange(200)
    way = 0.15 * np.sin(2.0 * np.pi * 1.2 * t)
    return write_poses(folder, AT + np.outer(way, [0.0, 1.0, 0.3]))


def make_calm(folder):
    return write_poses(folder, swing(200, 0.05))


def make_wall(folder):
    wall = "{shape: box, size: [0.1, 2, 2], xyz: [0.5, 0, 0.3]}"
    return [*write_poses(folder, swing(250, 0.15)), f"gate.scene.wall={wall}"]


KINDS = {"reach": make_reach, "race": make_race, "calm": make_calm, "wall": make_wall}


def run(tmp_path, words):
    """Run a session; return its lines, whether it was left, and its file."""
    lines = []
    session = VirtualSession(
        resolve([*words, *ROBOT, f"record.dir={tmp_path}"]), say=lines.append
    )
    assert session.run() == "done"
    return lines, session.was_left, tmp_path / "episode_000000.mcap"


@pytest.mark.parametrize("kind", spread(KINDS, "calm", "wall"))
def test_the_report_repeats_the_words_and_times_of_the_session(tmp_path, kind):
    lines, was_left, path = run(tmp_path, KINDS[kind](tmp_path))

    (entry,) = evaluate([path])
    tracking = entry["tracking"]

    said = [line for line in lines if line.startswith("not where the hand was")]
    assert said == ([tracking["summary"]] if tracking["summary"] else [])
    assert bool(said) == (kind != "calm")
    assert tracking["did_not_follow"] == was_left
    manifest = json.loads(path.with_suffix(".json").read_text())
    assert manifest.get("short", []) == tracking["short"]


def make_fast_joints(folder):
    """Ask joints 1 and 5 for more than V for most of the time, within their limits."""
    q = np.tile([0.0, 1.5, -1.0, 0.0, 0.0, 0.0], (1250, 1))
    swing = np.sin(2.0 * np.pi * 1.5 * 0.004 * np.arange(1250))
    q[:, 0], q[:, 4] = 1.5 * swing, 0.8 * swing
    return [*write_joints(folder, q), "retarget.mode=joints"]


def make_fast_turns(folder):
    """Ask for turns about the approach axis that are too fast for the wrist."""
    angles = 1.2 * np.sin(2.0 * np.pi * 1.5 * 0.02 * np.arange(250))
    turns = [pin.exp3(np.array([0.0, 0.0, angle])) for angle in angles]
    R_home = pin.Quaternion(np.array(HOME_XYZW)).toRotationMatrix()
    quats = [pin.Quaternion(R_home @ turn).coeffs() for turn in turns]
    return write_poses(folder, np.tile(AT, (250, 1)), np.array(quats))


@pytest.mark.parametrize(
    "make", spread([make_fast_joints, make_fast_turns, make_reach], make_fast_turns)
)
def test_a_file_that_the_robot_did_not_follow_ends_with_exit_code_5(tmp_path, make):
    words = [*make(tmp_path), *ROBOT, f"record.dir={tmp_path / 'out'}"]

    assert main(["run", *words]) == exit_codes.NOT_FOLLOWED
    (entry,) = evaluate([tmp_path / "out/episode_000000.mcap"])
    assert entry["tracking"]["did_not_follow"]
    assert entry["tracking"]["summary"]
