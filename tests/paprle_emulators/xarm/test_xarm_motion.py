"""Planned motion of the emulated arm: lines, joints, pauses, and what it refuses."""

import math
import struct

import numpy as np
import pytest

from paprle_emulators.xarm import protocol as p
from paprle_emulators.xarm.arm import PERIOD, Arm
from paprle_emulators.xarm.box import Box
from paprle_emulators.xarm.kinematics import find_numbers, find_turn, make_pose, solve
from paprle_emulators.xarm.models import MODELS
from paprle_emulators.xarm.motions import Pace
from paprle_emulators.xarm.protocol import Register, Request, State

pytestmark = pytest.mark.long

DOWN = (math.pi, 0.0, 0.0)
BASE, TOOL, CHECKED, MAYBE_JOINTS = (0, 0, 0), (1, 0, 0), (0, 0, 1), (0, 0, 0, 1)
INF = math.inf


def make_box(model="xarm7", mode=0):
    arm = Arm(model, np.zeros(MODELS[model].axis), "none")
    arm.enable(8, is_on=True)
    arm.set_mode(mode)
    arm.set_state(0)
    return Box(arm)


def ask(box, register, numbers, tail=()):
    """Send a request; return its status and what follows."""
    data = struct.pack(f"<{len(numbers)}f", *numbers) + bytes(tail)
    answer = box.answer(Request(7, 3, register, data))
    return answer[7], answer[8:]


def line(box, numbers, speed=300.0, tail=BASE):
    return ask(box, Register.MOVE_LINE, (*numbers, speed, 5000.0, 0, -1), tail)[0]


def finish(arm, seconds=20.0):
    """Run to the end of the plan; return the tool's poses of each cycle."""
    poses = []
    for _ in range(round(seconds / PERIOD)):
        arm.step()
        poses.append(arm.pose)
        if arm.state is not State.MOVING:
            return np.array(poses)
    pytest.fail("it moves for ever")


def find_pose(arm):
    return find_numbers(arm.pose)


def test_a_line_is_straight_at_the_speed_that_is_asked_for():
    box = make_box()
    line(box, (300, 0, 150, *DOWN))
    finish(box.arm)
    start, goal = box.arm.pose[:3, 3], np.array([0.3, 0.2, 0.25])

    line(box, (*(1e3 * goal), *DOWN), 200.0)
    poses = finish(box.arm)

    assert box.arm.error == 0
    assert poses[-1][:3, 3] == pytest.approx(goal, abs=2e-4)
    along = (goal - start) / np.linalg.norm(goal - start)
    way = poses[:, :3, 3] - start
    beside = way - np.outer(way @ along, along)
    assert np.linalg.norm(beside, axis=1).max() < 1e-3, "straight"
    speeds = np.linalg.norm(np.diff(poses[:, :3, 3], axis=0), axis=1) / PERIOD
    assert speeds.max() == pytest.approx(0.2, rel=0.02)
    turns = [find_turn(pose[:3, :3] @ make_pose(np.array([0, 0, 0, *DOWN]))[:3, :3].T)
             for pose in poses]  # fmt: skip
    assert np.linalg.norm(turns, axis=1).max() < 5e-3, "it does not turn"


def test_lines_keep_what_is_not_asked_for_add_and_follow_the_tool():
    box = make_box()
    line(box, (300, 50, 150, *DOWN))
    finish(box.arm)

    line(box, (INF, INF, 250, INF, INF, INF))
    finish(box.arm)
    assert find_pose(box.arm)[:3] == pytest.approx([300, 50, 250], abs=0.2)

    numbers = (0, 40, 0, 0, 0, 0.3, 0)
    ask(box, Register.MOVE_RELATIVE, (*numbers, 300, 5000, 0, -1), (0, 0))
    finish(box.arm)
    assert find_pose(box.arm)[1] == pytest.approx(90, abs=0.2)
    assert find_pose(box.arm)[5] == pytest.approx(0.3, abs=2e-3)

    line(box, (0, 0, 30, 0, 0, 0), tail=TOOL)  # the tool looks down
    finish(box.arm)
    assert find_pose(box.arm)[:3] == pytest.approx([300, 90, 220], abs=0.2)

    ask(box, Register.MOVE_LINE_AXIS, (0, 0, 0, 0, 0, -0.3, 300, 5000, 0), (0, 1))
    finish(box.arm)
    assert find_pose(box.arm)[5] == pytest.approx(0.0, abs=2e-3)


def test_a_place_out_of_reach_is_c21_and_the_arm_rests():
    box = make_box()
    line(box, (300, 0, 150, *DOWN))
    finish(box.arm)

    held = box.arm.q.copy()
    line(box, (2000, 0, 150, *DOWN))
    finish(box.arm)
    assert (box.arm.error, box.arm.state) == (21, State.STOPPED)
    for _ in range(50):
        box.arm.step()

    assert box.arm.q == pytest.approx(held, abs=1e-4)
    assert box.arm.n_moves == 0


def test_a_line_past_the_base_is_too_fast_for_a_joint():
    box = make_box()
    line(box, (120, 250, 300, *DOWN))
    finish(box.arm)
    assert box.arm.error == 0

    line(box, (40, -250, 300, *DOWN), 1000.0)
    finish(box.arm)

    assert box.arm.error == 24


def test_motions_run_one_after_another_with_a_message_each():
    box = make_box()
    ask(box, Register.FEEDBACK_TYPE, (), (2,))
    places = [(300, 0, 150), (300, 0, 200), (300, 50, 200)]
    for place in places:
        line(box, (*place, *DOWN))
    ask(box, Register.PAUSE, (0.5,))
    ask(box, Register.MOVE_HOME, (3.0, 20.0, 0.0))
    assert box.arm.n_moves == 5

    poses = finish(box.arm)[:, :3, 3]

    for place in places:
        assert np.linalg.norm(poses - 1e-3 * np.array(place), axis=1).min() < 2e-4
    still = np.linalg.norm(np.diff(poses, axis=0), axis=1) < 1e-7
    assert still.sum() * PERIOD > 0.3, "it paused"
    assert box.arm.done == [(7, 3)] * 4, "a pause has none"
    assert box.arm.q == pytest.approx(np.zeros(7), abs=1e-3)


@pytest.mark.parametrize("how", ["stop", "error", "tool", "mode"])
def test_a_stop_forgets_waiting_motions(how):
    box = make_box()
    line(box, (300, 0, 150, *DOWN))
    line(box, (300, 0, 300, *DOWN))
    for _ in range(20):
        box.arm.step()

    {
        "stop": lambda: box.arm.set_state(4),
        "error": lambda: box.arm.fail(31),
        "tool": lambda: ask(box, Register.TOOL_OFFSET, (0, 0, 100, 0, 0, 0)),
        "mode": lambda: box.arm.set_mode(0),
    }[how]()
    assert box.arm.n_moves == 0
    box.arm.clean_error()
    box.arm.set_mode(0)
    box.arm.set_state(0)
    for _ in range(50):
        box.arm.step()
    held = box.arm.q.copy()
    for _ in range(50):
        box.arm.step()

    assert box.arm.q == pytest.approx(held, abs=1e-5)


def test_a_paused_motion_goes_on_from_where_it_was():
    box = make_box()
    line(box, (300, 0, 150, *DOWN), 200.0)
    for _ in range(40):
        box.arm.step()

    box.arm.set_state(3)
    for _ in range(50):
        box.arm.step()
    held = box.arm.q.copy()
    for _ in range(50):
        box.arm.step()
    assert box.arm.q == pytest.approx(held, abs=1e-5)
    box.arm.set_state(0)
    finish(box.arm)

    assert find_pose(box.arm)[:3] == pytest.approx([300, 0, 150], abs=0.2)


def test_a_tool_is_what_a_line_leads_and_a_pose_is_of():
    box = make_box()
    ask(box, Register.TOOL_OFFSET, (0, 0, 100, 0, 0, 0))
    assert find_pose(box.arm)[2] == pytest.approx(20.5, abs=0.1), "it reaches down"
    box.arm.set_state(0)

    line(box, (300, 0, 100, *DOWN))
    finish(box.arm)

    assert 1e3 * box.arm.frames[-1][2, 3] == pytest.approx(200, abs=0.2)
    assert find_pose(box.arm)[:3] == pytest.approx([300, 0, 100], abs=0.2)


def test_reduced_mode_slows_lines_and_joints():
    box = make_box()
    line(box, (300, 0, 150, *DOWN))
    finish(box.arm)
    ask(box, Register.REDUCED_LINE, (50.0,))
    ask(box, Register.REDUCED_JOINT, (0.2,))
    ask(box, Register.REDUCED, (), (1,))
    assert ask(box, Register.REDUCED_STATE, ())[1] == b"\x01"

    line(box, (300, 0, 170, *DOWN))
    poses = finish(box.arm)
    speeds = np.linalg.norm(np.diff(poses[:, :3, 3], axis=0), axis=1) / PERIOD
    assert speeds.max() < 0.052
    ask(box, Register.MOVE_JOINT, (0.1, *[INF] * 6, 3.0, 20.0, 0.0))
    fastest = 0.0
    while box.arm.state is State.MOVING:
        box.arm.step()
        fastest = max(fastest, float(np.abs(box.arm.dq).max()))
    assert 0.1 < fastest < 0.21


def test_joints_beyond_their_limits_are_c23():
    box = make_box()

    ask(box, Register.MOVE_RELATIVE, (0, 2.2, *[0] * 5, 1, 10, 0, -1), (1, 0))
    finish(box.arm)

    assert box.arm.error == 23
    assert box.arm.q == pytest.approx(np.zeros(7), abs=1e-9)


@pytest.mark.parametrize("tail", [CHECKED, MAYBE_JOINTS])
def test_options_that_are_not_emulated_are_refused_and_move_nothing(tail):
    box = make_box()

    status = line(box, (300, 0, 150, *DOWN), tail=tail)

    assert status & p.INVALID
    assert (box.arm.warning, box.arm.n_moves) == (13, 0)


@pytest.mark.parametrize(
    ("register", "numbers"),
    [
        (27, (300, 0, 100, *DOWN, 300, 100, 100, *DOWN, 100, 1000, 0, 50)),
        (Register.WORLD_OFFSET, (100, 0, 0, 0, 0, 0)),
        (52, (0,) * 6),
        (82, (0,) * 8),
    ],
    ids=["circle", "coordinate system", "boundary", "velocity"],
)
def test_requests_that_are_not_emulated_are_refused(register, numbers):
    box = make_box()

    status, _ = ask(box, register, numbers)

    assert status & p.INVALID
    assert box.arm.warning == 13
    assert box.arm.n_moves == 0


@pytest.mark.parametrize("speed", [math.nan, math.inf])
def test_a_speed_that_is_no_number_is_a_wrong_parameter(speed):
    box = make_box()

    assert line(box, (300, 0, 150, *DOWN), speed) & p.INVALID

    assert (box.arm.warning, box.arm.n_moves) == (12, 0)


def test_a_full_buffer_is_a_warning():
    box = make_box()
    box.arm.set_state(3)

    for _ in range(1025):
        ask(box, Register.PAUSE, (0.0,))

    assert (box.arm.warning, box.arm.n_moves) == (11, 1024)


def test_the_makers_published_frame_of_a_line_is_understood():
    # spec: p09-basic-motion, register 21: x 400, y 0, z 200 mm, roll π, 100 mm/s
    text = (
        "00 01 00 02 00 25 15 00 00 C8 43 00 00 00 00 00 00 48 43 DB 0F 49 40 00 00 00 "
        "00 00 00 00 00 00 00 C8 42 00 00 FA 44 00 00 00 00"
    )
    box = make_box("xarm6")

    (request,) = p.take_requests(bytearray.fromhex(text))
    answer = box.answer(request)
    finish(box.arm)

    assert answer.hex(" ").upper() == "00 01 00 02 00 04 15 00 00 01"
    assert find_pose(box.arm)[:3] == pytest.approx([400, 0, 200], abs=0.2)
    assert abs(find_pose(box.arm)[3]) == pytest.approx(math.pi, abs=2e-3)


def test_inverse_kinematics_agree_with_the_makers_example():
    # spec: p11-get-motion-information, register 43: 400, 0, 200 mm, roll π, of an arm
    # with five or six joints
    box = make_box("xarm6")

    _, data = ask(box, Register.INVERSE, (400, 0, 200, *DOWN))

    joints = struct.unpack("<7f", data)
    expected = [0, 0.081803, -0.641152, 0, 0.5593, 0, 0]
    assert joints == pytest.approx(expected, abs=1e-3)
    _, back = ask(box, Register.FORWARD, joints)
    assert struct.unpack("<6f", back)[:3] == pytest.approx([400, 0, 200], abs=0.1)
    status, _ = ask(box, Register.INVERSE, (4000, 0, 200, *DOWN))
    assert status & p.INVALID
    assert box.arm.warning == 14


@pytest.mark.parametrize("model", MODELS)
def test_a_posture_is_found_again_from_nearby(model):
    arm, rng = MODELS[model], np.random.default_rng(2)
    low, high = np.radians(arm.limits).T
    tool = make_pose(np.array([10.0, 20.0, 80.0, 0.1, 0.2, 0.3]))

    for q in rng.uniform(0.3 * low, 0.3 * high, (20, arm.axis)):
        goal = arm.compute_frames(q)[-1] @ tool
        found = solve(arm, tool, goal, arm.clip(q + 0.05), 40)
        assert found is not None
        error = np.abs(arm.compute_frames(found)[-1] @ tool - goal).max()
        assert error < 2e-4


@pytest.mark.parametrize("angle", [0.0, 1e-6, 1.0, 3.1, math.pi])
def test_axis_and_angle_are_those_of_the_rotation(angle):
    axis = np.array([2.0, -1.0, 2.0]) / 3.0
    pose = make_pose(np.array([1.0, 2.0, 3.0, *(angle * axis)]), is_axis_angle=True)

    vector = np.array(find_numbers(pose, is_axis_angle=True)[3:])

    assert np.linalg.norm(vector) == pytest.approx(angle, abs=1e-9)
    sign = -1.0 if angle == math.pi and vector @ axis < 0 else 1.0
    assert sign * vector == pytest.approx(angle * axis, abs=1e-7)


@pytest.mark.parametrize(("seconds", "rise"), [(1.0, 0.2), (0.1, 0.5), (0.0, 0.1)])
def test_a_pace_rises_and_falls_evenly(seconds, rise):
    pace = Pace(seconds, rise)
    t = np.linspace(0.0, pace.total, 2001)

    shares = np.array([pace.find_share(x) for x in t])

    assert shares[-1] == 1.0
    assert (np.diff(shares) >= 0).all()
    assert shares + shares[::-1] == pytest.approx(np.ones(len(t)), abs=1e-6)
    if seconds:
        assert np.diff(shares).max() / (t[1] - t[0]) <= 1.001 / seconds


def test_servo_targets_of_the_tool_are_followed_and_a_far_one_is_c21():
    box = make_box()
    line(box, (300, 0, 200, *DOWN))
    finish(box.arm)
    box.arm.set_mode(1)
    box.arm.set_state(0)

    for k in range(50):
        numbers = (300 + k, 0, 200, *DOWN, 0, 0, 0)
        assert ask(box, Register.SERVO_POSE, numbers)[0] == 0
        box.arm.step()
    for _ in range(30):
        box.arm.step()
    assert find_pose(box.arm)[0] == pytest.approx(349, abs=0.2)
    assert [counts for counts, _ in box.planning.targets] == [True] * 50

    ask(box, Register.SERVO_POSE, (3000, 0, 200, *DOWN, 0, 0, 0))
    assert box.arm.error == 21
