"""Sessions in virtual time with a UR5e and an xArm 7 as one robot."""

from __future__ import annotations

import json

import numpy as np
import pytest
from mixed_arms import describe

from paprle.config import resolve
from paprle.config.folders import VARIABLE
from paprle.contracts.errors import DeviceError
from paprle.hosts.virtual import VirtualSession
from paprle.oracle import JudgedLimits, check_commands

pytestmark = pytest.mark.long
BOTH = (
    "leader=autopilot",
    "leader.size=0.1",
    "retarget.limb_map={left: hand, right: hand}",
    "session.clock=virtual",
    "session.episodes=1",
    "session.duration=3",
)
IDEAL = ("env=mix", "env.left.env=kinematic", "env.right.env=kinematic")
AFTER = 20  # periods after a session: what stands stays
WALL = {"shape": "box", "size": [0.5, 0.02, 0.3], "xyz": [0.5, 0.0, 0.15]}


@pytest.fixture(autouse=True)
def duo(tmp_path, monkeypatch):
    describe(tmp_path, "ur5e@left", "xarm7@right")
    monkeypatch.setenv(VARIABLE, str(tmp_path))


def drive(*words):
    """Return a session after its end, and its commands."""
    session = VirtualSession(resolve([*BOTH, "follower=duo", *words]))
    commands, left = [], AFTER
    while left and len(commands) < 20_000:
        before_ns = session.next_gate_ns
        session.step()
        if session.next_gate_ns != before_ns:
            commands.append(np.array(session.status["q_cmd"]))
            left -= session.is_over
    session.close()
    return session, np.array(commands)


def split(session, commands):
    """Return the commands of each arm."""
    names = session.plan.robot.joint_names
    return [
        commands[:, [name.startswith(f"{limb}_") for name in names]]
        for limb in ("left", "right")
    ]


def judge(session, commands):
    limits = JudgedLimits.of(session.plan.robot.info, 1e-9 * session.gate_ns)
    verdict = check_commands(commands, limits, q_start=commands[0])
    assert verdict.is_ok, str(verdict)


@pytest.mark.parametrize(
    "env",
    [
        ("env=kinematic",),
        IDEAL,
        pytest.param(("env=mujoco",), marks=pytest.mark.sim),
        pytest.param((*IDEAL, "env.left.env=mujoco"), marks=pytest.mark.sim),
    ],
    ids=["whole", "each", "dynamic", "one dynamic"],
)
def test_one_hand_moves_both_arms(env):
    session, commands = drive(*env)

    assert session.core.end_reason == "done"
    assert all(np.ptp(arm, axis=0).max() > 0.05 for arm in split(session, commands))
    judge(session, commands)


def test_both_arms_keep_clear_of_what_stands_between_them():
    scene = {"wall": WALL}
    session, commands = drive("env=kinematic", f"gate.scene={json.dumps(scene)}")

    bodies = session.plan.robot.make_collision_model(session.plan.resolved.gate.scene)
    assert any("wall" in pair for pair in bodies.pairs)
    assert min(bodies.min_clearance(q) for q in commands[::10]) > 0.0
    judge(session, commands)


@pytest.mark.parametrize(
    ("limb", "fault", "told"),
    [
        ("left", "protective_stop", "left: protective stop"),
        ("right", "off", "state_lost"),
    ],
)
def test_both_arms_brake_after_one_stops(limb, fault, told, capsys):
    session, commands = drive(*IDEAL, f"env.{limb}.faults=[{fault}@3.0]")

    assert session.core.end_reason == "stopped"
    assert told in capsys.readouterr().out
    for arm in split(session, commands):
        assert np.ptp(arm, axis=0).max() > 0.02, "it moved"
        assert np.ptp(arm[-20:], axis=0).max() == 0.0, "it stands"
    judge(session, commands)


def test_an_arm_that_takes_no_command_brakes_the_other(shaky):
    words = [*BOTH, "follower=duo", *IDEAL, "env.left.type=shaky"]
    session = VirtualSession(resolve(words))
    while session.clock.now_ns < 3e9:
        session.step()
    shaky.FAILS.add(("ur5e", "write"))
    with pytest.raises(DeviceError, match="left: ValueError: a bug"):
        while True:
            session.step()

    gate, commands = session._controller, []
    for _ in range(200):  # as the process of the gate goes on after a fault
        session.clock.now_ns += session.gate_ns
        commands.append(np.array(gate.step(None, session.clock.now_ns)["q_cmd"]))

    _, right = split(session, np.array(commands))
    assert gate.is_at_rest
    assert np.abs(right[0] - right[-1]).max() > 1e-3, "it was on its way"
    assert session.follower._parts[1].follower.read().q == pytest.approx(right[-1])
    h = 1e-9 * session.gate_ns
    ddq = np.diff(right, 2, axis=0) / h**2
    assert (np.abs(ddq) <= session.plan.robot.ddq_max[6:] * (1.0 + 1e-6)).all()
