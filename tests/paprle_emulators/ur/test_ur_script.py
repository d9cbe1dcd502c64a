"""The emulated control script, cycle by cycle, by its registers."""

import numpy as np
import pytest

from paprle_emulators.ur.actions import ACTIONS, ONGOING
from paprle_emulators.ur.arm import Motion
from paprle_emulators.ur.commands import Command
from paprle_emulators.ur.controller import DT, Controller, Runtime, SafetyMode
from paprle_emulators.ur.kinematics import (
    compute_jacobian,
    from_pose_vector,
    solve,
    to_pose_vector,
)
from paprle_emulators.ur.models import MODELS, compute_flange
from paprle_emulators.ur.path import read_path

HOME = np.array([0.0, -1.5708, 1.5708, -1.5708, -1.5708, 0.0])
CYCLE = 1e-4  # [m/s], [rad/s] of a speed that turns with the arm within a cycle
UP = np.array([0.0, 0.0, 0.1, 0.0, 0.0, 0.0])
SCRIPT = (
    "def rtde_control():\n  global reg_offset_int = # int register offset\n0\n"
    '  textmsg("RTDE Control Script Loaded")\nend\n'
)
EMULATED = {
    *(0, 1, 2, 3, 4, 24, 25, 26, 27, 29, 30, 31, 51, 52, 53, 54, 58, 255),
    *(*range(6, 12), *range(15, 22), *range(33, 38), *range(39, 48), *range(60, 66)),
}
NOT_EMULATED = sorted({int(one) for one in Command} - EMULATED)


@pytest.fixture
def events():
    return []


@pytest.fixture
def controller(events):
    controller = Controller(MODELS["ur5e"], HOME.copy(), events.append)
    controller.start_script(SCRIPT)
    run(controller, 0.1)
    return controller


def run(controller, seconds):
    for _ in range(round(seconds / DT)):
        controller.step()


def ask(controller, command, floats=(), ints=(), most=5.0):
    """Give a command as ur_rtde does: until it is done, then none."""
    controller.double_in[: len(floats)] = list(map(float, floats))
    controller.int_in[1 : 1 + len(ints)] = list(map(int, ints))
    controller.write_int(0, int(command))
    for _ in range(round(most / DT)):
        controller.step()
        is_done = controller.int_out[0] == 2
        if is_done or controller.runtime is not Runtime.PLAYING:
            break
    controller.write_int(0, 0)
    controller.step()


def stream(controller, command, floats, cycles, ints=()):
    controller.double_in[: len(floats)] = list(map(float, floats))
    controller.int_in[1 : 1 + len(ints)] = list(map(int, ints))
    for _ in range(cycles):
        controller.write_int(0, int(command))
        controller.step()


@pytest.mark.parametrize("number", [*NOT_EMULATED, 5, 99, -3])
def test_a_command_that_is_not_emulated_stops_the_program_and_is_noted(
    controller, events, number
):
    q = controller.arm.q.copy()
    ask(controller, number)

    assert controller.runtime is Runtime.STOPPED
    assert controller.int_out[0] != 2, "nothing was done"
    assert any(f"command {number} (" in text for text in events)
    assert any("runtime exception" in text for text in events)
    assert b"is not emulated" in controller.reports.take(0)
    assert np.array_equal(controller.arm.q, q)


def test_every_other_command_is_obeyed():
    known = {int(one) for one in (*ACTIONS, *ONGOING)} | {0, 255}
    assert known == EMULATED


@pytest.mark.parametrize("name", sorted(MODELS))
def test_inverse_kinematics_find_the_joints_again(name):
    model = MODELS[name]
    tool = from_pose_vector(np.array([0.01, -0.02, 0.1, 0.3, 0.2, -0.4]))
    for seed in range(10):
        rng = np.random.default_rng(seed)
        q = HOME + rng.uniform(-0.4, 0.4, 6)
        pose = compute_flange(model, q) @ tool
        found = solve(model, pose, q + rng.uniform(-0.1, 0.1, 6), tool)
        assert np.abs(found - q).max() < 1e-8
    far = from_pose_vector(np.array([3.0, 0.0, 0.0, 0.0, 0.0, 0.0]))
    assert solve(model, far, HOME, tool) is None


def test_the_jacobian_is_the_slope_of_the_pose():
    model, h = MODELS["ur5e"], 1e-6
    tool = from_pose_vector(np.array([0.01, -0.02, 0.1, 0.3, 0.2, -0.4]))
    jacobian = compute_jacobian(model, HOME, tool)
    for k, step in enumerate(h * np.eye(6)):
        ahead, behind = (compute_flange(model, HOME + s) @ tool for s in (step, -step))
        turn = (ahead[:3, :3] - behind[:3, :3]) / (2 * h) @ (compute_flange(
            model, HOME) @ tool)[:3, :3].T  # fmt: skip
        assert np.allclose((ahead - behind)[:3, 3] / (2 * h), jacobian[:3, k])
        assert np.allclose([turn[2, 1], turn[0, 2], turn[1, 0]], jacobian[3:, k])


@pytest.mark.parametrize("angle", [0.0, 1e-10, 0.5, np.pi - 1e-12, np.pi])
def test_a_pose_vector_is_a_pose_and_back(angle):
    axis = np.array([0.6, -0.64, 0.48])
    pose = from_pose_vector(np.concatenate([[0.1, 0.2, 0.3], angle * axis]))
    again = from_pose_vector(to_pose_vector(pose))
    assert np.allclose(again, pose, atol=1e-7)


def test_movel_keeps_the_tool_on_a_straight_line_within_its_speed(controller):
    begin = controller.arm.pose
    goal = to_pose_vector(begin) + UP + [0.05, 0.02, 0.0, 0.0, 0.0, 0.0]
    places = []
    step = controller.step
    controller.step = lambda: (step(), places.append(controller.arm.pose[:3, 3]))
    ask(controller, Command.MOVEL, [*goal, 0.25, 0.5], [0])

    way = goal[:3] - begin[:3, 3]
    off = np.cross(np.array(places) - begin[:3, 3], way / np.linalg.norm(way))
    assert np.abs(off).max() < 1e-6
    speeds = np.linalg.norm(np.diff(places, axis=0), axis=1) / DT
    assert 0.15 < speeds.max() < 0.251
    assert np.abs(np.diff(speeds)).max() / DT < 2.0, "no jump at its ends"
    assert np.allclose(to_pose_vector(controller.arm.pose), goal, atol=1e-6)
    assert controller.int_out[0] == 1


def test_a_pose_out_of_reach_stops_the_program(controller, events):
    ask(controller, Command.MOVEL, [3.0, 0.0, 0.5, 0.0, 3.1, 0.0, 0.25, 0.5], [0])

    assert controller.runtime is Runtime.STOPPED
    assert any("no solution" in text for text in events)


def test_speedj_ramps_to_its_speed_and_speedstop_ends_it(controller):
    stream(controller, Command.SPEEDJ, [0.2, 0, 0, 0, 0, 0, 0.5, DT], 100)
    assert controller.arm.dq_target[0] == pytest.approx(0.1, abs=1e-9), "0.2 s of it"
    run(controller, 0.5)
    assert controller.arm.dq_target[0] == pytest.approx(0.2), "it goes on by itself"
    ask(controller, Command.SPEED_STOP, [2.0])
    assert controller.arm.motion is Motion.HOLD


def test_speedl_moves_the_tool_in_the_base_frame(controller):
    stream(controller, Command.SPEEDL, [0, 0, 0.05, 0, 0, 0, 1.0, DT], 100)
    assert np.allclose(controller.arm.find_twist(), [0, 0, 0.05, 0, 0, 0], atol=CYCLE)
    ask(controller, Command.SPEED_STOP, [1.0])
    assert controller.arm.is_at_rest


def test_teach_mode_follows_a_hand_and_holds_where_it_was_left(controller, events):
    assert not controller.arm.lead(0, 0.2, 0.3), "a driven arm holds"
    ask(controller, Command.TEACH_MODE)
    run(controller, 0.5)
    assert np.allclose(controller.arm.q, HOME, atol=1e-9), "alone it holds its weight"
    assert controller.arm.lead(0, 0.2, 0.3)
    run(controller, 0.4)
    ask(controller, Command.END_TEACH_MODE)
    q = controller.arm.q.copy()
    assert q[0] == pytest.approx(HOME[0] + 0.2, abs=1e-6)
    run(controller, 0.3)

    assert np.abs(controller.arm.q - q).max() < 1e-6
    assert "teach mode" in events
    assert "end of teach mode" in events


def test_servoj_in_teach_mode_stops_the_program(controller, events):
    ask(controller, Command.TEACH_MODE)
    stream(controller, Command.SERVOJ, [*HOME, 0, 0, DT, 0.03, 300], 2)

    assert controller.runtime is Runtime.STOPPED
    assert any("end_teach_mode comes first" in text for text in events)


def test_teach_mode_in_motion_stops_the_program(controller):
    stream(controller, Command.SPEEDJ, [0.2, 0, 0, 0, 0, 0, 0.5, DT], 50)
    controller.write_int(0, 0)
    controller.step()
    ask(controller, Command.TEACH_MODE)

    assert controller.runtime is Runtime.STOPPED


def test_a_hand_too_fast_in_teach_mode_is_a_protective_stop(controller):
    ask(controller, Command.TEACH_MODE)
    controller.arm.lead(0, 2.0, 0.5)
    run(controller, 0.5)

    assert controller.safety_mode is SafetyMode.PROTECTIVE_STOP
    assert controller.arm.motion is not Motion.FREE


def test_force_mode_moves_along_its_chosen_axis_until_something_holds_it(controller):
    frame, limits = [0.0] * 6, [0.1] * 6
    floats = [*frame, 0, 0, -10, 0, 0, 0, *limits]
    z = controller.arm.pose[2, 3]
    stream(controller, Command.FORCE_MODE, floats, 200, [2, 0, 0, 1, 0, 0, 0])
    twist = controller.arm.find_twist()
    assert controller.arm.pose[2, 3] < z - 0.005
    assert np.abs(np.delete(twist, 2)).max() < CYCLE
    controller.wrench = np.array([0.0, 0.0, 10.0, 0.0, 0.0, 0.0])
    run(controller, 0.3)
    assert np.abs(controller.arm.find_twist()).max() < CYCLE
    controller.write_int(0, 0)
    controller.step()
    ask(controller, Command.FORCE_MODE_STOP)
    assert controller.arm.motion is Motion.HOLD


def test_an_asynchronous_move_tells_its_progress_and_is_stopped(controller):
    ask(controller, Command.MOVEJ, [*(HOME + 0.3), 1.0, 1.4], [1], most=0.02)
    run(controller, 0.1)
    running = controller.int_out[2]
    ask(controller, Command.STOPJ, [2.0], [0])

    assert running >> 15 & 1
    assert running >> 24 & 127 == 1
    assert not controller.int_out[2] >> 15 & 1
    assert controller.arm.motion is Motion.HOLD
    assert controller.arm.q[0] < 0.2


def test_a_payload_is_noted(controller, events):
    ask(controller, Command.SET_PAYLOAD, [1.2, 0.0, 0.0, 0.05])

    assert controller.payload == 1.2
    assert "set_payload 1.200 kg at [0.0000, 0.0000, 0.0500] m" in events


def test_a_paused_line_goes_on_where_it_was(controller):
    goal = to_pose_vector(controller.arm.pose) + UP
    controller.double_in[:8] = [*goal, 0.25, 0.5]
    controller.write_int(0, int(Command.MOVEL))
    run(controller, 0.2)
    controller.open_safeguard()
    run(controller, 0.3)
    controller.close_safeguard()
    run(controller, 2.0)

    assert controller.int_out[0] == 2
    assert np.allclose(to_pose_vector(controller.arm.pose), goal, atol=1e-6)


def test_a_path_is_read_from_the_script_or_refused():
    head = "    def exec_move_path():\n"
    moves = (
        "\tsignal_async_progress(0)\n\tmovej([1,2,3,4,5,6],a=0.5,v=0.4,r=0.02)\n"
        "\tsignal_async_progress(1)\n\tmovel(p[1,2,3,4,5,6],a=0.5,v=0.4,r=0)\n"
    )
    one, two = read_path(head + moves + "    end\n")
    assert (one.kind, one.is_pose, one.rate, one.progress) == ("movej", False, 0.5, 0)
    assert (two.kind, two.is_pose, two.speed, two.progress) == ("movel", True, 0.4, 1)
    with pytest.raises(ValueError, match="expected a move of ur_rtde"):
        read_path(head + "\tmovez(1)\n    end\n")
