"""The maker's SDKs, unmodified, at the emulated control unit.

Each client is a process of its own: the SDKs keep Python's lock while they wait.
"""

import json
import socket
import struct
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from franka_rig import DT, IMPORTS, ORACLES, running_franka

from paprle_emulators.franka.models import HOME
from paprle_emulators.franka.protocol import Mode

pytestmark = pytest.mark.process

BEGIN = """
    import json, math, os, sys
    robot = sdk.Robot(sys.argv[1], sdk.RealtimeConfig.kIgnore)
    def choose(state, begin, t, seconds, change):
        command = sdk.JointPositions(change(list(begin), min(t, seconds)))
        command.motion_finished = t >= seconds
        return command
    def say(**words):
        print(json.dumps(words), flush=True)
"""
IDLE = ("RobotMode.Idle", "RobotMode.kIdle")
# a pause of this computer passes no time of a motion
MOVES = {
    "fr3": """
    def move(seconds, change):
        motion = robot.start_joint_position_control(sdk.ControllerMode.JointImpedance)
        begin, t = None, 0.0
        while True:
            state, passed = motion.readOnce()
            t += 1e-3
            begin = begin or list(state.q_d)
            command = choose(state, begin, t, seconds, change)
            motion.writeOnce(command)
            if command.motion_finished:
                return
    """,
    "panda": """
    def move(seconds, change):
        begin, t = [], 0.0
        def callback(state, passed):
            nonlocal t
            t += 1e-3
            begin[:] = begin or state.q_d
            return choose(state, begin, t, seconds, change)
        joint = sdk.ControllerMode.kJointImpedance
        robot.control_joint_position(callback, joint, False, 1000.0)
    """,
}


def run(arm, text, *, code=0):
    """Run a client to its end; return what it said."""
    parts = (BEGIN, MOVES[arm.model], text)
    script = "\n".join((IMPORTS[arm.model], *map(textwrap.dedent, parts)))
    done = subprocess.run(
        [sys.executable, "-c", script, arm.host],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    return json.loads(lines[-1])


@pytest.fixture(params=ORACLES)
def arm(tmp_path, request):
    pytest.importorskip(ORACLES[request.param].package)
    with running_franka(tmp_path, request.param) as arm:
        yield arm


def test_a_client_that_echoes_states_runs_unmodified(arm):
    said = run(
        arm,
        """
        states = [robot.read_once() for _ in range(100)]
        times = [round(1e3 * s.time.to_sec()) for s in states]
        last = states[-1]
        say(q=last.q, pose=last.O_T_EE, mode=str(last.robot_mode),
            errors=bool(last.current_errors), times=times)
        """,
    )

    assert said["q"] == pytest.approx(HOME, abs=1e-6)
    # spec: libfranka's ready pose, in column-major order
    assert said["pose"][12:15] == pytest.approx([0.3069, 0.0, 0.5903], abs=1e-4)
    assert said["mode"] in IDLE
    assert not said["errors"]
    assert all(b > a for a, b in zip(said["times"], said["times"][1:], strict=False))


def test_its_joint_position_example_ends_well(arm):
    said = run(
        arm,
        """
        def change(q, t):
            delta = math.pi / 24 * (1 - math.cos(math.pi / 2.5 * t))
            return [q[0], q[1], q[2], q[3] + delta, q[4] + delta, q[5], q[6] + delta]
        move(2.5, change)
        say(mode=str(robot.read_once().robot_mode), q=robot.read_once().q_d)
        """,
    )

    assert said["mode"] in IDLE
    assert said["q"][3] - HOME[3] == pytest.approx(3.14159 / 12, abs=1e-4)
    verdict = arm.judge()
    assert verdict.is_ok, verdict
    assert verdict.n > 1000


def test_a_jump_is_the_exception_that_the_maker_documents(arm):
    said = run(
        arm,
        """
        try:
            move(1.0, lambda q, t: [x + 1e-4 * (t > 0.1) for x in q])
        except RuntimeError as err:
            text = str(err)
        errors = str(robot.read_once().current_errors)
        robot.automatic_error_recovery()
        for _ in range(100):  # states of the meantime wait in the socket
            state = robot.read_once()
        say(text=text, errors=errors, mode=str(state.robot_mode))
        os._exit(0)
        """,
    )

    assert "motion aborted by reflex" in said["text"]
    assert "joint_motion_generator_velocity_discontinuity" in said["errors"]
    assert said["mode"] in IDLE


def test_the_hand_moves_and_grasps(arm):
    arm.do("block", at=0.03)
    said = run(
        arm,
        """
        hand = sdk.Gripper(sys.argv[1])
        opened = hand.move(0.08, 0.1)
        held = hand.grasp(0.01, 0.1, 40.0, 0.01, 0.08)
        state = hand.read_once()
        say(opened=opened, held=held, width=state.width, grasped=state.is_grasped)
        """,
    )
    arm.do("none")

    assert said == {"opened": True, "held": True, "width": 0.03, "grasped": True}


@pytest.mark.parametrize(("model", "asked", "own"), [("fr3", 5, 10), ("panda", 10, 5)])
def test_another_version_is_refused_with_the_units_own(tmp_path, model, asked, own):
    """A client is answered as it expects it, byte by byte."""
    with (
        running_franka(tmp_path, model) as arm,
        socket.create_connection((arm.host, 1337), 2.0) as node,
    ):
        node.sendall(struct.pack("<IIIHH", 0, 7, 16, asked, 4000))
        answer = node.recv(64)

    assert struct.unpack("<IIIBH", answer) == (0, 7, 15, 1, own)


@pytest.mark.nightly
def test_a_pandas_limits_are_those_that_its_sdk_keeps_by_itself(tmp_path):
    """Its limiter, which the driver leaves off, uses what ``rate_limiting.h`` has."""
    pytest.importorskip(ORACLES["panda"].package)
    with running_franka(tmp_path, "panda") as arm:
        run(
            arm,
            """
            n = 0
            def far(state, passed):
                global n
                n += 1
                command = sdk.JointPositions([q + 0.1 * (n < 350) for q in state.q_d])
                command.motion_finished = n > 400 and max(map(abs, state.dq_d)) < 1e-9
                return command
            joint = sdk.ControllerMode.kJointImpedance
            robot.control_joint_position(far, joint, True, 1000.0)
            say(n=n)
            """,
        )
        record, verdict = arm.read(), arm.judge()
    moves = (record.flags[:, 1] == Mode.MOVE) & (record.flags[:, 2] == 0)
    largest = []
    x = record.q_d
    for _ in range(3):
        x = np.diff(x, axis=0, prepend=x[:1]) / DT
        largest.append(np.abs(x[moves]).max(axis=0))

    assert verdict.is_ok, verdict
    oracle, eps = ORACLES["panda"], 1e-3  # spec: rate_limiting.h, kLimitEps
    speed = oracle.table[:, 2] - eps - 3 * DT * (oracle.a - eps)  # three lost packets
    assert largest[0] == pytest.approx(speed, rel=1e-3)
    assert largest[1] == pytest.approx(oracle.a - eps, rel=1e-6)
    assert largest[2] == pytest.approx(oracle.j - eps, rel=1e-6)


@pytest.mark.long
def test_a_client_of_others_follows_joint_targets(tmp_path):
    """``franka-rs`` on PyPI reads and writes version 5 by layouts of its own."""
    pytest.importorskip("franka._franka")
    script = """
        import franka, sys, time
        robot = franka.Robot(sys.argv[1], realtime="ignore")
        begin = list(robot.read_once().q_d)
        with robot.joint_targets(fraction=0.3, backend="robot") as targets:
            targets.move_by([0, 0, 0, 0.1, 0, 0.1, 0])
            time.sleep(1.5)
        print([float(b - a) for a, b in zip(begin, robot.read_once().q_d)])
        """
    with running_franka(tmp_path, "panda") as arm:
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(script), arm.host],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        verdict = arm.judge()

    assert done.returncode == 0, done.stderr
    way = json.loads(done.stdout)
    assert way == pytest.approx([0, 0, 0, 0.1, 0, 0.1, 0], abs=1e-3)
    assert verdict.is_ok, verdict
    assert verdict.n > 500
