"""What cannot work is refused in one clear message before anything starts (row 35)."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from cells import spread

from paprle.ipc.process import WORKSPACE

pytestmark = pytest.mark.process

GOOD = ("leader=autopilot", "follower=piper", "env=kinematic")
JOINTS = "time,elbow,wrist\n0.0,0.1,0.2\n0.1,0.1,0.2\n"


def run_py(tmp_path, *args, **changes):
    """Run the product as a user does; children would show as a trace of exec calls."""
    return subprocess.run(
        [sys.executable, str(WORKSPACE / "run.py"), *args],
        cwd=tmp_path, capture_output=True, text=True, timeout=30, check=False,
        env=os.environ | {"PYTHONPATH": "", **changes},
    )  # fmt: skip


def write(path, text):
    path.write_text(text)
    return path


MISTAKES = {
    "no settings": ((), "leader"),
    "wrong name": (("leader=autopilto",), "did you mean 'autopilot'?"),
    "wrong key": (("leader.sise=1",), "did you mean 'size'?"),
    "wrong type": (("session.rate=often",), "session.rate: expected a number"),
    "wrong unit": (("session.speed=20%",), "session.speed"),
    "out of bounds": (("gate.reduced_scale=2",), "gate.reduced_scale"),
    "no URDF": (("follower.urdf=none.urdf",), "expected a URDF file"),
    "wrong fault": (("env.faults=[explode@1]",), "explode"),
    "no such limb": (("retarget.limb_map={leg: hand}",), "leg"),
    "no motion": (("leader=offline",), "leader.path"),
}


# tests/paprle/cli/test_cli.py sees the others within its own process
@pytest.mark.parametrize(
    "name", spread(MISTAKES, "no settings", "wrong fault", "no motion")
)
def test_a_mistake_is_refused_with_exit_2_and_nothing_started(tmp_path, name):
    args, message = MISTAKES[name]
    base = GOOD if args else ()

    done = run_py(tmp_path, *base, *args, f"record.dir={tmp_path / 'OUT'}")

    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_an_impossible_pair_is_refused_by_joint_names(tmp_path):
    path = write(tmp_path / "elbow.csv", JOINTS)

    done = run_py(
        tmp_path, *GOOD, "leader=offline", f"leader.path={path}",
        "retarget.mode=joints",
    )  # fmt: skip

    assert done.returncode == 2, done.stderr
    assert "joint1" in done.stderr or "elbow" in done.stderr
    assert "Traceback" not in done.stderr


_BROKEN = {
    "cut off": "<robot name='x'><link name='a'>",
    "no XML": "not XML",
    "empty": "",
    "no links": "<robot name='x'/>",
}


@pytest.mark.parametrize("name", spread(_BROKEN, "cut off"))
def test_a_broken_urdf_is_refused(tmp_path, name):
    path = write(tmp_path / "robot.urdf", _BROKEN[name])

    done = run_py(tmp_path, *GOOD, f"follower.urdf={path}")

    assert done.returncode == 2, done.stderr
    assert "robot.urdf" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "text", spread(["", "time,joint1\n", "\0\0\0", "a,b\nx,y\n"], "a,b\nx,y\n")
)
def test_a_motion_that_cannot_be_read_is_refused(tmp_path, text):
    path = write(tmp_path / "motion.csv", text)

    done = run_py(tmp_path, *GOOD, "leader=offline", f"leader.path={path}")

    assert done.returncode == 2, done.stderr
    assert "motion.csv" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("is_accepted", [False, True])
def test_a_robot_that_nothing_else_stops_is_driven_only_by_assent(
    tmp_path, outside, is_accepted
):
    log = tmp_path / "robot.log"
    args = ["leader=autopilot", "leader.size=0.02", "follower=piper", "env=logged"]
    args += ["follower.envs={logged: {}}", f"env.log={log}", "env.simulated=false"]
    args += ["session.episodes=1", f"gate.accept_unattended={is_accepted}".lower()]

    done = run_py(tmp_path, *args, **outside)

    events = [json.loads(line) for line in log.read_text().splitlines()]
    assert [events[0]["event"], events[-1]["event"]] == ["open", "close"]
    assert any(event["event"] == "write" for event in events) is is_accepted
    said = done.stdout + done.stderr
    if is_accepted:
        assert done.returncode == 0, said
        assert "keep a hand on its hardware stop" in said
    else:
        assert done.returncode == 2, said
        assert "expected gate.accept_unattended=true" in said
        assert "session.yaml" in said, "the setting of the site"
        assert "Traceback" not in said
