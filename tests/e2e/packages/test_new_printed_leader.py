"""``paprle new-leader`` as typed, against emulated servos in a hand."""

from __future__ import annotations

import re
import subprocess
import sys
import time

import numpy as np
import pytest
from running import RunningSession

from paprle.ipc.process import WORKSPACE
from paprle_emulators import start

pytestmark = [pytest.mark.process, pytest.mark.timed, pytest.mark.timeout(400)]

RIG = """\
baud: 1000000
limbs:
  arm:
    port: bus
    servos:
      pan: {id: 1, model: xl330-m288, sign: -1, offset: 3.1}
      lift: {id: 2, model: xl330-m288, sign: 1, offset: -2.0}
      elbow: {id: 3, model: xl330-m288, sign: -1, offset: 0.4}
      wrist: {id: 4, model: xl330-m288, sign: 1, offset: 1.3}
      roll: {id: 5, model: xl330-m288, sign: 1, offset: -0.7}
    gripper: {joint: gripper, id: 6, model: xl330-m077, closed: 0.0, open: 0.9}
"""
WORDS = (
    "up 55, pan yaw, up 32, lift pitch, up 108 forward 15, elbow pitch, forward 100, "
    "wrist pitch, forward 45, roll roll, forward 79, gripper"
)
JOINTS = ("pan", "lift", "elbow", "wrist", "roll")


class Hand:
    """Moves the emulated arm as the wizard asks on its standard output."""

    def __init__(self, arm, process):
        self.arm, self.process, self.text = arm, process, ""

    def pose(self, **joints):
        self.arm.order({"cmd": "pose", "joints": joints})
        time.sleep(0.6)

    def read_question(self):
        """Return what it says up to its prompt."""
        said = ""
        while not said.endswith("q to leave: "):
            letter = self.process.stdout.read(1)
            if not letter:
                return said
            said += letter
        return said

    def answer(self, question):
        if "first posture" in question:
            self.pose(**dict.fromkeys(JOINTS, 0.0), gripper=0.0)
        elif "second posture" in question:
            self.pose(**dict.fromkeys(JOINTS, np.radians(45.0)), gripper=0.9)
        elif "to and fro" in question:
            self.pose(**dict.fromkeys(JOINTS, 0.0), gripper=0.0)
            time.sleep(1.0)
            for joint in (*JOINTS, "gripper"):
                for q in (0.6, 0.0, -0.6 if joint != "gripper" else 0.6, 0.0):
                    self.pose(**{joint: q})
                time.sleep(1.0)
        time.sleep(1.0)
        self.process.stdin.write("\n")
        self.process.stdin.flush()


@pytest.mark.nightly
def test_a_leader_is_made_from_words(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))  # no other rig's notices
    path = tmp_path / "rig.yaml"
    path.write_text(RIG)
    out = tmp_path / "made"
    with start("dynamixel", leader=str(path)) as arm:
        (port,) = arm.endpoint["ports"].values()
        process = subprocess.Popen(
            [sys.executable, "-m", "paprle", "new-leader", "printed", "--port", port,
             "--words", WORDS, "--out", str(out)],
            cwd=WORKSPACE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        hand, said = Hand(arm, process), ""
        while process.poll() is None:
            question = hand.read_question()
            said += question
            if not question.endswith("q to leave: "):
                break
            hand.answer(question)
        code = process.wait(30)
        process.stdin.close()
        process.stdout.close()
        assert code == 0, said

        assert re.search(r"pan \(servo 1\): the hand moves to its (left|right)", said)
        assert "first posture" in said
        assert sorted(p.name for p in out.iterdir()) == ["printed.urdf", "printed.yaml"]
        leader = f"leader={out / 'printed.yaml'}"
        assert f"paprle run {leader}" in said

        arm.order({"cmd": "motion", "program": "grasp_all"})
        words = [leader, "follower=ur5e", "env=kinematic", "session.episodes=1"]
        session = RunningSession(words, out)
        try:
            session.wait_for("ENGAGED", timeout=100.0)
            arm.order({"cmd": "motion", "program": "sines:4,end"})
            code = session.wait_gone(timeout=100.0)
        finally:
            session.end()
    assert code == 0, session.text()
    assert "kept 1" in session.text()
