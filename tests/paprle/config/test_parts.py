"""An env for each limb: whose YAMLs are beneath, one rate, and mistakes."""

from __future__ import annotations

import pytest

from paprle.config import Resolved, resolve
from paprle.config.emulated import describe_emulated
from paprle.config.explain import explain
from paprle.config.folders import VARIABLE
from paprle.contracts.errors import ConfigError
from paprle.ipc.process import WORKSPACE
from paprle_emulators.notice import announce

TRIPLE = ("leader=autopilot", "follower=pair", "env=mix")
ROBOT = """
urdf: {urdf}
limits: {{ddq_max: 10.0}}
envs:
  mix:
    left: {{robot: piper, env: can}}
    right: {{robot: ur5e_2f85, env: ur, host: 10.0.0.2}}
"""


@pytest.fixture(autouse=True)
def pair(tmp_path, monkeypatch):
    """A follower of two arms, described in a folder of its own."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))  # no other rig's notices
    (tmp_path / "follower").mkdir()
    urdf = WORKSPACE / "urdf/piper_2arm/robot.urdf"
    (tmp_path / "follower/pair.yaml").write_text(ROBOT.format(urdf=urdf))
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    return tmp_path


def find_problems(*words):
    with pytest.raises(ConfigError) as caught:
        resolve((*TRIPLE, *words))
    return "\n".join(caught.value.problems)


def test_each_limb_has_the_settings_of_its_env_and_of_its_robot_there():
    resolved = resolve((*TRIPLE, "env.left.channel=can3"))

    left, right = resolved.env.left, resolved.env.right
    assert (left.type, left.env, left.limb) == ("piper", "can", "arm")
    assert (left.channel, left.lag) == ("can3", 0.025)
    assert left.urdf == str(WORKSPACE / "urdf/piper/robot.urdf")
    assert (right.type, right.host) == ("ur", "10.0.0.2")
    assert right.robotiq.model == "2f85", "as configs/follower/ur5e_2f85.yaml says"
    sources = resolved.sources
    assert sources["env.left.channel"] == "command line"
    assert sources["env.left.lag"] == "configs/env/can.yaml"
    assert sources["env.right.robotiq.model"] == "configs/follower/ur5e_2f85.yaml"


def test_a_site_s_settings_of_an_env_are_those_of_the_limb_too(pair):
    (pair / "env").mkdir()
    (pair / "env/ur.yaml").write_text("gain: 500")

    assert resolve(TRIPLE).env.right.gain == 500.0


def test_the_other_processes_read_the_same():
    resolved = resolve(TRIPLE)

    again = Resolved.from_dict(resolved.to_dict())

    assert again.env == resolved.env
    assert list(again.env.parts) == ["left", "right"]


def test_every_key_is_explained():
    text = explain(resolve(TRIPLE))

    assert "  right:\n" in text
    assert "    host: " in text


def test_another_env_of_an_arm_brings_its_own_settings():
    resolved = resolve((*TRIPLE, "env.left.env=kinematic", "env.left.dead_time=0.01"))

    assert (resolved.env.left.type, resolved.env.left.dead_time) == ("kinematic", 0.01)


def test_a_running_emulator_is_the_arm_of_its_limb_alone():
    words = ["env.host=127.0.0.9", "gate.accept_unattended=true"]
    with announce("env", "ur", words, "ur5e_2f85"):
        resolved = resolve(TRIPLE)
        typed = resolve((*TRIPLE, "env.right.host=10.0.0.3"))

    assert resolved.env.right.host == "127.0.0.9"
    assert "env.right.host" in "\n".join(describe_emulated(resolved.sources))
    assert not resolved.gate.accept_unattended, "the left arm may be a real one"
    assert typed.env.right.host == "10.0.0.3"


@pytest.mark.parametrize(
    ("words", "rate"),
    [
        ((), 200.0),
        (("env.left.rate=100",), 100.0),
        (("env.rate=250",), 250.0),
        (("env.left.env=kinematic", "env.left.rate=800"), 500.0),
    ],
)
def test_all_arms_have_the_rate_of_the_slowest_or_the_one_that_is_set(words, rate):
    env = resolve((*TRIPLE, *words)).env

    assert (env.rate, env.left.rate, env.right.rate) == (rate, rate, rate)


def test_a_rate_that_an_arm_does_not_take_is_refused():
    told = find_problems("env.rate=400")

    assert told == (
        "env.left.rate: expected a number ≤ 250 [Hz], got 400 (command line)"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("env.left.robot=pipr",),
            "env.left.robot: unknown name 'pipr' (command line)",
        ),
        (("env.left.env=cann",), "env.left.env: unknown name 'cann' (command line)"),
        (
            ("env.left.env=xarm",),
            "env.left.env: expected an env of follower 'piper', got 'xarm'",
        ),
        (("env.left.chanel=can1",), "env.left.chanel: unknown key (command line)"),
        (("env.left.env=mix",), "env.left.env: expected an env of follower 'piper'"),
        (("env.left.type=mix",), "env.left.env: expected the env of a single arm"),
        (
            ("env.third.robot=piper",),
            "env.third: expected a limb with its robot and env, got no env",
        ),
        (("env.Third.robot=piper",), "env.Third: expected a limb's name of small"),
        (("env.left=null",), "env.left: expected a limb with its robot and env"),
        (("env.left.gripper_torque=9",), "expected a number ≤ 5 [N·m], got 9"),
        (
            ("env.right.robot=piper_2arm", "env.right.env=can"),
            "env.right.limb: expected a value, got none",
        ),
    ],
)
def test_mistakes_are_said_with_their_key(words, message):
    assert message in find_problems(*words)


def test_a_mistake_is_said_once():
    assert find_problems("env.left.robot=pipr").count("env.left") == 1
