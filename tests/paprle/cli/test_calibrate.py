"""``paprle calibrate`` with an operator who does what it asks, or does not."""

import re

import numpy as np
import pytest
import yaml
from emulated_puppeteers import run_emulated

from paprle.cli import main
from paprle.config import resolve
from paprle.hardware.dynamixel.probe import Swing
from paprle.ipc.process import WORKSPACE
from paprle.leaders.puppeteer.friction import Friction

pytestmark = pytest.mark.long

NAME = "puppeteer_papras_7dof"
SITE = f"configs/site/leader/{NAME}.yaml"
SIGNS = (1, -1, 1, 1, -1, 1, 1, -1)
OFFSETS = (0.1, -0.4, 3.0, 0.0, -3.1, 0.7, 1.5, 0.3)


class Operator:
    """Moves the emulated arm as it is asked to, and gives scripted answers."""

    def __init__(self, emulated, capsys, answers=()):
        self.emulated, self.capsys = emulated, capsys
        self.answers, self.asked = dict(answers), []

    def __call__(self, _prompt):
        question = self.capsys.readouterr().out.strip()
        self.asked.append(question)
        for text, answer in self.answers.items():
            if re.search(text, question):
                return answer(question) if callable(answer) else answer
        if question.startswith("put "):
            for i in range(7):
                self.move(i, 0.0)
        elif match := re.match(r"turn arm/joint(\d)", question):
            i = int(match[1]) - 1
            self.emulated.servo(i + 1).angle += 0.5 * SIGNS[i]
        elif "gripper fully" in question:
            self.move(7, 0.0 if "closed" in question else 0.6)
        return "s" if question.startswith("friction") else ""

    def move(self, i, q):
        self.emulated.servo(i + 1).angle = SIGNS[i] * q + OFFSETS[i]


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    """A workspace with a site of its own."""
    root = tmp_path / "workspace"
    (root / "configs").mkdir(parents=True)
    (root / "urdf").symlink_to(WORKSPACE / "urdf")
    for part in ("leader", "follower", "env"):
        (root / "configs" / part).symlink_to(WORKSPACE / "configs" / part)
    monkeypatch.setattr("paprle.config.folders.DATA", root)
    monkeypatch.setattr("paprle.leaders.puppeteer.calibration._WATCH", 0.02)
    return root


@pytest.fixture
def calibrate(tmp_path, workspace, capsys, monkeypatch):
    tree = yaml.safe_load((workspace / f"configs/leader/{NAME}.yaml").read_text())
    with run_emulated(tmp_path, tree) as emulated:

        def run(*args, **answers):
            operator = Operator(emulated, capsys, answers.get("answers", {}))
            monkeypatch.setattr("builtins.input", operator)
            port = f"leader.limbs.arm.port={emulated.port('arm')}"
            code = main(
                ["calibrate", f"leader={NAME}", port, "leader.timeout=0.03", *args]
            )
            return code, operator

        run.emulated = emulated
        yield run


def read(workspace, label=SITE):
    return yaml.safe_load((workspace / label).read_text())


def test_signs_zeros_and_gripper_are_written(workspace, calibrate):
    code, _ = calibrate()

    assert code == 0
    arm = read(workspace)["limbs"]["arm"]
    found = [arm["servos"][f"joint{i + 1}"] for i in range(7)]
    assert [servo["sign"] for servo in found] == list(SIGNS[:7])
    assert [s["offset"] for s in found] == pytest.approx(OFFSETS[:7], abs=2e-3)
    assert arm["gripper"]["sign"] == SIGNS[7]
    assert arm["gripper"]["offset"] == pytest.approx(OFFSETS[7], abs=2e-3)
    assert arm["gripper"]["open"] == pytest.approx(0.6, abs=3e-3)


def test_one_joint_is_done_again_and_the_rest_is_kept(workspace, calibrate):
    path = workspace / SITE
    path.parent.mkdir(parents=True)
    kept = {"offset": 0.05, "sign": -1}
    path.write_text(yaml.safe_dump({"limbs": {"arm": {"servos": {"joint1": kept}}}}))

    code, operator = calibrate("--joint", "arm/joint3")

    servos = read(workspace)["limbs"]["arm"]["servos"]
    assert code == 0
    assert servos["joint1"] == kept
    assert set(servos) == {"joint1", "joint3"}
    assert not any("arm/joint1" in question for question in operator.asked)


def test_nonsense_is_asked_for_again(calibrate):
    asked, emulated = [], calibrate.emulated

    def turn(question):
        asked.append(question)
        if len(asked) == 2:
            emulated.servo(3).angle += 0.5
        return ""

    code, operator = calibrate(
        "--joint", "arm/joint3", answers={"turn arm/joint3": turn}
    )

    assert code == 0
    assert any("expected 'arm/joint3' to move by" in text for text in operator.asked)


def test_operator_who_leaves_changes_nothing(workspace, calibrate, capsys):
    code, _ = calibrate(answers={"gripper fully": "q"})

    assert code == 1
    assert "nothing was written" in capsys.readouterr().err
    assert not (workspace / SITE).exists()


def test_unknown_joint_is_refused(calibrate, capsys):
    code, operator = calibrate("--joint", "arm/elbow")

    assert code == 2
    assert "expected one of arm/joint1, " in capsys.readouterr().err
    assert not operator.asked


def test_leader_without_joints_needs_none(capsys):
    assert main(["calibrate", "leader=autopilot"]) == 2
    assert "it needs no calibration" in capsys.readouterr().err


@pytest.mark.parametrize("was", [NAME, "puppeteer_piper"])
@pytest.mark.parametrize("found", [0.03, 0.00003], ids=["some", "hardly_any"])
def test_friction_goes_where_the_stability_bound_reads_it(
    workspace, calibrate, monkeypatch, was, found
):
    """What is there joins it if it is of the same leader, or else gives way."""
    nothing = np.zeros(3)
    still = Swing(nothing, nothing, nothing, nothing)
    part = "paprle.leaders.puppeteer.calibration"
    monkeypatch.setattr(f"{part}.swing", lambda *_: still)
    monkeypatch.setattr(f"{part}.fit_friction", lambda *_: Friction(0.02, found))
    path = workspace / "configs/site/session.yaml"
    path.parent.mkdir(parents=True)
    before = {"dead_time": 0.03, "coulomb": {"arm/joint1": 0.05}}
    origin = {"measured_with": {"leader": was}}
    path.write_text(yaml.safe_dump({"feedback": {"rig": {**before, **origin}}}))

    code, _ = calibrate("--joint", "arm/joint3", answers={"friction of": ""})

    assert code == 0
    kept = before["coulomb"] if was == NAME else {}
    assert read(workspace, "configs/site/session.yaml")["feedback"]["rig"] == {
        "dead_time": 0.03,
        "viscous": {"arm/joint3": 0.02},
        "coulomb": {**kept, "arm/joint3": max(found, 1e-4)},
        "measured_with": {"leader": NAME},
    }
    resolve([f"leader={NAME}", "follower=papras_7dof", "env=kinematic"], workspace)
