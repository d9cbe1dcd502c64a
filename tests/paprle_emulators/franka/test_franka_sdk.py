"""The maker's SDK, unmodified, at the emulated control unit.

Each client is a process of its own: the SDK keeps Python's lock while it waits.
"""

import json
import socket
import struct
import subprocess
import sys
import textwrap

import pytest
from franka_rig import judge_motion, running_franka

from paprle_emulators.franka.models import HOME

pytest.importorskip("pylibfranka")
pytestmark = pytest.mark.process

BEGIN = """
    import json, math, os, sys
    import pylibfranka as sdk
    robot = sdk.Robot(sys.argv[1], sdk.RealtimeConfig.kIgnore)
    def move(seconds, change):
        motion = robot.start_joint_position_control(sdk.ControllerMode.JointImpedance)
        begin, t, found = None, 0.0, []
        while True:
            state, passed = motion.readOnce()
            t += 1e-3  # a pause of this computer passes no time of the motion
            begin = begin or list(state.q_d)
            found.append(passed.to_sec())
            command = sdk.JointPositions(change(list(begin), min(t, seconds)))
            command.motion_finished = t >= seconds
            motion.writeOnce(command)
            if command.motion_finished:
                return found
    def say(**words):
        print(json.dumps(words), flush=True)
"""


def run(arm, text, *, code=0):
    """Run a client to its end; return what it said."""
    script = textwrap.dedent(BEGIN) + textwrap.dedent(text)
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


@pytest.fixture
def arm(tmp_path):
    with running_franka(tmp_path) as arm:
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
    assert said["mode"] == "RobotMode.Idle"
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

    assert said["mode"] == "RobotMode.Idle"
    assert said["q"][3] - HOME[3] == pytest.approx(3.14159 / 12, abs=1e-4)
    verdict = judge_motion(arm.read())
    assert verdict.is_ok, verdict
    assert verdict.n > 1000


def test_a_jump_is_the_exception_that_the_maker_documents(arm):
    said = run(
        arm,
        """
        try:
            move(1.0, lambda q, t: [x + 1e-4 * (t > 0.1) for x in q])
        except sdk.ControlException as err:
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
    assert said["mode"] == "RobotMode.Idle"


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


def test_another_version_is_refused_with_the_units_own(arm):
    """An older client is answered as it expects it, byte by byte."""
    with socket.create_connection((arm.host, 1337), 2.0) as node:
        node.sendall(struct.pack("<IIIHH", 0, 7, 16, 5, 4000))
        answer = node.recv(64)

    assert struct.unpack("<IIIBH", answer) == (0, 7, 15, 1, 10)
