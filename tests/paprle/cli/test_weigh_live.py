"""``paprle calibrate`` weighs an emulated arm with its own motors, as on a bench.

The arm has links, gravity, friction and play; the bus is the vendor's protocol on a
pseudo-terminal; the operator's hand holds what it is told to hold.
"""

import re
import time

import numpy as np
import pytest
import yaml
from dynamixel_rig import running_rig

from paprle.cli import main
from paprle.ipc.process import WORKSPACE

NAME, JOINT = "puppeteer_papras_7dof", "joint4"
SHOULDERS = (0.6, 1.0, 1.4)  # [rad] of joint2: there the forearm hangs free
SETTLES = 1.0  # [s] a hand takes a weight over in half a second
NEAR, PATIENCE = 0.05, 5.0  # [rad] and [s]
GRIP, DAMPING = 8.0, 0.2  # [N·m/rad] and [N·m·s/rad]


class Bench:
    """Carries out what ``calibrate`` asks for; one joint at a time is let go of."""

    def __init__(self, emulated, capsys):
        self.emulated, self.capsys, self.asked = emulated, capsys, []
        state = emulated.state("arm")
        self.joints = state["joints"]
        self.i, self.shoulder = self.joints.index(JOINT), self.joints.index("joint2")
        self.rest = np.array(state["q"])
        self.rest[self.shoulder] = SHOULDERS[0]

    def __call__(self, _prompt):
        question = self.capsys.readouterr().out.strip()
        self.asked.append(question)
        q = self.rest.copy()
        if question.startswith("put "):
            q[:7] = 0.0
        elif question.startswith("turn "):
            q[self.i] += 0.5
        elif match := re.match(r"weight of .* posture (\d)", question):
            q[self.shoulder] = SHOULDERS[int(match[1]) - 1]
        self.hold(q, lets_go=question.startswith(("friction", "weight")))
        return ""

    def hold(self, q, *, lets_go):
        self.grip(np.ones(len(q)))
        self.emulated.send(
            cmd="pose", joints=dict(zip(self.joints, q.tolist(), strict=True))
        )
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if np.abs(np.array(self.emulated.state("arm")["q"]) - q).max() < NEAR:
                break
            time.sleep(0.1)
        time.sleep(SETTLES)
        if lets_go:
            self.grip(np.arange(len(q)) != self.i)
            time.sleep(SETTLES)  # it falls to where it hangs

    def grip(self, share):
        self.emulated.send(
            cmd="hand",
            stiffness=(GRIP * share).tolist(),
            damping=(DAMPING * share).tolist(),
        )


@pytest.fixture
def bench(tmp_path, monkeypatch, capsys):
    """A workspace of its own and a running emulator, with physics."""
    root = tmp_path / "workspace"
    (root / "configs").mkdir(parents=True)
    (root / "urdf").symlink_to(WORKSPACE / "urdf")
    for part in ("leader", "follower", "env"):
        (root / "configs" / part).symlink_to(WORKSPACE / "configs" / part)
    monkeypatch.setattr("paprle.config.folders.DATA", root)
    with running_rig(NAME) as emulated:
        operator = Bench(emulated, capsys)
        monkeypatch.setattr("builtins.input", operator)
        words = ["calibrate", f"leader={NAME}", *emulated.overrides]
        words += ["--joint", f"arm/{JOINT}", "leader.timeout=0.03"]
        yield operator, words, root / f"configs/site/leader/{NAME}.yaml"


@pytest.mark.nightly
@pytest.mark.timed
@pytest.mark.timeout(240)
@pytest.mark.parametrize("gain", [1.0, 1.4])
def test_a_joint_is_weighed_by_its_own_motor_to_its_true_torque(bench, gain):
    operator, words, site = bench
    operator.emulated.fault("strength", joint=JOINT, gain=gain)

    assert main(words) == 0, operator.asked

    found = yaml.safe_load(site.read_text())["limbs"]["arm"]["servos"][JOINT]
    assert found["torque_map"] == "supply"
    assert found["torque_gain"] == pytest.approx(gain, rel=0.2)
    weighed = [text for text in operator.asked if text.startswith("weight of")]
    assert len(weighed) == len(SHOULDERS)
