"""Devices of axes: what deflections, modes and advice make of a limb's target."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from retargeting import load_robot

from paprle.contracts.axes import FREEDOMS, AxisSpeeds
from paprle.contracts.errors import ConfigError
from paprle.contracts.kit.leader_group import merge_leaders
from paprle.contracts.session_view import Advice, make_advice_dtype
from paprle.contracts.settings.retarget import LimbRuleSettings, RetargetSettings
from paprle.contracts.types import LeaderInfo, LeaderSample, LimbCommand
from paprle.ipc.records import SampleView, make_layout, pack_sample
from paprle.retargeting.retarget import Retargeting
from paprle.retargeting.rules.modes import make_modes, read_modes

ROBOT = load_robot("piper")
SPEEDS = AxisSpeeds(translation=0.2, turn=0.8, gripper=0.5)
(ARM,) = ROBOT.limbs.values()


def stick(n_axes=7, **keys):
    names = FREEDOMS[:n_axes] if n_axes <= 7 else tuple(map(str, range(n_axes)))
    return LeaderInfo(
        limbs=("hand",), emits="axes", axes={"hand": names}, axis_speeds=SPEEDS, **keys
    )


class Device:
    """A stick that drives piper's arm; its command follows the target unless held."""

    def __init__(self, n_axes=7, info=None, **settings):
        self.info = info or stick(n_axes)
        self.n = len(self.info.axes["hand"])
        self.retargeting = Retargeting(ROBOT, self.info, RetargetSettings(**settings))
        self.view = SampleView(make_layout(ROBOT.info, self.info))
        self.ns, self.seq, self.mode, self.opening = 0, 0, 0, None
        self.advice = {}
        self.q_cmd = ROBOT.home.copy()
        self.say(np.zeros(self.n))
        self.state = self.retargeting.anchor(self.view, self.q_cmd)
        self.T0 = ARM.fk(ARM.take(self.q_cmd)).homogeneous
        self.target = None

    def say(self, u):
        self.seq += 1
        axes = LimbCommand(axes=np.asarray(u), mode=self.mode, opening=self.opening)
        sample = LeaderSample(stamp_ns=self.ns, seq=self.seq, limbs={"hand": axes})
        layout = make_layout(ROBOT.info, self.info)
        self.view.update(pack_sample(layout, sample))

    def move(self, u, time=0.1, rate=100, follows=True):
        for _ in range(round(time * rate)):
            self.ns += round(1e9 / rate)
            self.say(u)
            self.target = self.retargeting.retarget(
                self.view, self.state, self.q_cmd, self.advice
            )
            if follows:  # an ideal arm is where it was asked to be
                self.retargeting._place = lambda _: self.target.T.copy()
        return self.target.T[0]

    def moved(self):
        T = self.target.T[0]
        turn = pin.log3(T[:3, :3] @ self.T0[:3, :3].T)
        return np.concatenate([T[:3, 3] - self.T0[:3, 3], turn])


def test_modes_of_three_axes_are_those_of_the_classic_joystick():
    manual, classic = (
        make_modes(k, 3, has_gripper=True) for k in ("manual", "classic")
    )
    whole = np.hstack(classic)

    assert whole.shape == (7, 9)
    assert np.array_equal(whole[:, :7], np.eye(7))
    assert not whole[:, 7:].any(), "finger mode has two empty columns"
    assert np.array_equal(np.hstack(manual), whole)


@pytest.mark.parametrize("kind", ["manual", "classic"])
@pytest.mark.parametrize("n", range(1, 10))
@pytest.mark.parametrize("has_gripper", [True, False])
def test_every_freedom_has_one_axis_in_one_mode(kind, n, has_gripper):
    modes = np.hstack(make_modes(kind, n, has_gripper=has_gripper))

    assert modes.sum(axis=1).tolist() == [1] * 6 + [int(has_gripper)]
    assert modes.max(axis=0).sum() == modes.sum()


@pytest.mark.parametrize("freedom", range(6))
def test_each_axis_moves_one_freedom_at_its_speed(freedom):
    device = Device()

    device.move(np.eye(7)[freedom], 0.1)

    expected = np.repeat([0.02, 0.08], 3) * np.eye(6)[freedom]
    np.testing.assert_allclose(device.moved(), expected, atol=1e-12)


@pytest.mark.long
@pytest.mark.parametrize("rate", [25, 100, 200])
def test_the_path_is_the_same_at_any_rate(rate):
    device = Device()
    for k in range(25):  # a stick that swings, in steps of 40 ms
        u = np.sin(0.3 * k + np.arange(7))
        device.move(0.5 * u, 0.04, rate)

    slow = Device()
    for k in range(25):
        slow.move(0.5 * np.sin(0.3 * k + np.arange(7)), 0.04, 400)
    np.testing.assert_allclose(device.moved(), slow.moved(), atol=2e-4)


def test_body_aligned_axes_turn_with_the_tool():
    device = Device(alignment="body")

    T = device.move([0, 0, 1, 0, 0, 0, 0])

    np.testing.assert_allclose(T[:3, 3], device.T0[:3, 3] + 0.02 * device.T0[:3, 2])


@pytest.mark.parametrize("alignment", ["world", "body"])
def test_the_motion_that_is_told_is_the_one_that_is_made(alignment):
    """Cues draw it at the hand, and advisors compare theirs with it."""
    device = Device(alignment=alignment, rpy_xyz_extrinsic=(0.3, -0.4, 1.1))
    ((rule, _),) = device.state.own.values()
    device.move([0, 0, 0, 0.6, 0.8, 0.2, 0], 1.0)  # the hand is turned
    ((_, own),) = device.state.own.values()
    u = np.array([1.0, 0.5, -0.2, 0.3, -0.6, 0.4, 0.0])
    before = device.target.T[0].copy()

    after = device.move(u, 0.001, rate=1000)

    told = rule.find_motions(own) @ u
    made = pin.log6(pin.SE3(np.linalg.inv(before) @ after)).vector
    share = made / np.repeat([SPEEDS.translation, SPEEDS.turn], 3) / 0.001
    np.testing.assert_allclose(share, told[:6], atol=2e-3)
    assert not np.allclose(told[:6], u[:6], atol=0.1), "axes are turned"


def test_outputs_are_never_faster_than_full_deflection():
    D = np.ones((7, 2))
    record = np.zeros((), make_advice_dtype(("D", "f8", (7, 2))))
    record["D"], record["valid"] = D, True
    device = Device(2, modes="helper")
    device.advice = {"helper": Advice(record, 0.1)}
    device.move([0.0, 0.0])

    device.move([1.0, 1.0], 0.05)

    moved = device.T0[:3, :3].T @ device.moved()[:3]
    twist = pin.log6(pin.SE3(np.linalg.inv(device.T0) @ device.target.T[0]))
    assert np.linalg.norm(moved) <= 0.05 * 0.2 * np.sqrt(3) + 1e-9
    np.testing.assert_allclose(twist.linear, 0.01, atol=1e-9)


def test_the_mode_switch_goes_through_the_modes_and_back():
    device = Device(3)

    device.move([1, 0, 0])
    device.mode = 1
    device.move([0, 1, 0])
    device.mode = -2  # of three modes, back beyond the first: the second
    device.move([0, 1, 0])

    np.testing.assert_allclose(device.moved(), [0.02, 0, 0, 0, 0.16, 0], atol=1e-9)


def test_the_gripper_holds_until_used_and_begins_where_its_command_is():
    device = Device()
    joint = ROBOT.joint_names.index(ARM.gripper.joint)
    g = ARM.gripper
    device.q_cmd[joint] = g.closed + 0.25 * (g.open - g.closed)

    device.move(np.zeros(7))
    assert np.isnan(device.target.q[joint])
    device.move(np.eye(7)[6], 0.2)

    opening = (device.target.q[joint] - g.closed) / (g.open - g.closed)
    assert opening == pytest.approx(0.25 + 0.1)
    device.move(np.eye(7)[6], 5.0)
    assert device.target.q[joint] == pytest.approx(g.open)


def test_openings_of_the_leader_itself_drive_the_gripper():
    device = Device(info=stick(6, has_gripper=True))
    device.opening = 0.5
    device.move(np.zeros(6))

    g = ARM.gripper
    joint = ROBOT.joint_names.index(g.joint)
    assert device.target.q[joint] == pytest.approx(0.5 * (g.open + g.closed))
    assert len(device.retargeting.slots[0][0].rule.modes) == 1


@pytest.mark.long
def test_a_stick_held_against_a_wall_winds_nothing_up():
    device = Device()
    device.move([1, 0, 0, 1, 0, 0, 0], 10.0, follows=False)

    moved = device.moved()
    assert moved[0] == pytest.approx(0.4 * SPEEDS.translation - 0.002)
    assert moved[3] == pytest.approx(0.5)
    device.move([-1, 0, 0, 0, 0, 0, 0], 0.3, follows=False)
    near = 0.05 * SPEEDS.translation
    assert device.moved()[0] == pytest.approx(near - 0.06), "it comes back at once"
    assert device.moved()[3] == pytest.approx(0.5), "nobody turned it back"


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_invalid_numbers_move_nothing(bad):
    device = Device()

    device.move([bad] * 7)

    assert np.isfinite(device.target.T[0]).all()
    assert np.abs(device.moved()[:3]).max() <= 0.02 + 1e-12


def test_silence_is_no_motion():
    device = Device()
    device.ns += 5_000_000_000

    T = device.move([1] * 7, 0.001, rate=1000)  # its first sample after 5 s

    np.testing.assert_array_equal(T, device.T0)


def advise(D, valid=True, age=0.1):
    D = np.asarray(D, dtype=float)
    record = np.zeros((), make_advice_dtype(("D", "f8", D.shape)))
    record["D"], record["valid"] = D, valid
    return Advice(record, age)


DIAGONAL, UP = np.zeros((7, 1)), np.zeros((7, 1))
DIAGONAL[:2, 0], UP[2, 0] = 0.5, 1.0


def push(device, deflection=1.0, time=0.1):
    """Move, and return how, in the axes of the tool that it began with."""
    before = device.target.T[0].copy()
    after = device.move([deflection], time)
    return before[:3, :3].T @ (after[:3, 3] - before[:3, 3])


def test_advice_is_the_meaning_of_the_axes_in_the_tools_frame_until_a_switch():
    device = Device(1, modes="helper")
    device.advice = {"helper": advise(np.hstack([DIAGONAL, UP]))}
    device.move([0.0])

    np.testing.assert_allclose(push(device), [0.01, 0.01, 0], atol=1e-9)
    device.advice = {"helper": advise(np.hstack([-DIAGONAL, UP]))}
    np.testing.assert_allclose(push(device), [0.01, 0.01, 0], atol=1e-9)
    device.move([0.0])
    np.testing.assert_allclose(push(device), [0.01, 0.01, 0], atol=1e-9)
    device.mode = 1
    np.testing.assert_allclose(push(device), [-0.01, -0.01, 0], atol=1e-9)


def test_switches_before_any_motion_go_through_what_differs_from_what_is_in_use():
    device = Device(1, modes="helper")
    device.advice = {"helper": advise(np.hstack([DIAGONAL, DIAGONAL * 1.01, UP]))}
    device.move([0.0])
    device.mode = 1
    device.move([0.0])

    np.testing.assert_allclose(push(device), [0, 0, 0.02], atol=1e-9)
    device.mode = 2  # the limb has moved: the best again
    np.testing.assert_allclose(push(device), [0.01, 0.01, 0], atol=1e-9)
    device.mode = 1  # back from there: the last that differs
    np.testing.assert_allclose(push(device), [0, 0, 0.02], atol=1e-9)


@pytest.mark.parametrize("gone", [{}, {"helper": advise(DIAGONAL, age=2.0)}])
def test_advice_that_ends_leaves_a_held_stick_as_it_is_and_is_classic_at_rest(gone):
    device = Device(3, modes="helper")
    device.advice = {"helper": advise(np.hstack([UP, DIAGONAL]))}
    device.move([0, 0, 0])
    device.move([1, 0, 0])
    before, moved = device.target.T[0].copy(), device.target.T[0].copy()
    device.advice = gone

    for _ in range(5):
        last, moved = moved, device.move([1, 0, 0], 0.01).copy()
        assert np.linalg.norm(moved[:3, 3] - last[:3, 3]) <= 0.002 + 1e-12, "a jump"
    held = before[:3, :3].T @ (moved[:3, 3] - before[:3, 3])
    np.testing.assert_allclose(held, [0, 0, 0.01], atol=1e-9)
    device.move([0, 0, 0])
    at_rest = device.target.T[0].copy()
    np.testing.assert_array_equal(at_rest, moved)
    after = device.move([0, 1, 0])
    np.testing.assert_allclose(after[:3, 3] - at_rest[:3, 3], [0, 0.02, 0], atol=1e-9)


def follow_kinds(kind, numbers, time, rate=100):
    device = Device(1, modes="helper", input=kind)
    device.advice = {"helper": advise(UP)}
    device.move([0.0], rate=rate)
    for u in numbers:
        device.move([u], time, rate)
    return device.moved()


@pytest.mark.parametrize("rate", [50, 200])
def test_stick_switch_and_slider_end_in_the_same_pose(rate):
    stick_pose = follow_kinds("continuous", [1.0], 0.4, rate)
    presses = follow_kinds("discrete", [1.0, 0.0, 1.0, 0.0], 0.2, rate)
    slider = follow_kinds("absolute", [0.1, 0.15, 0.2, 0.2], 0.2, rate)

    assert np.linalg.norm(stick_pose[:3]) == pytest.approx(0.08)
    np.testing.assert_allclose(presses, stick_pose, atol=1e-9)
    np.testing.assert_allclose(slider, stick_pose, atol=1e-9)


@pytest.mark.parametrize(
    "advice",
    [
        None,
        advise(np.eye(7), valid=False),
        advise(np.eye(7), age=2.0),
        advise(np.full((7, 2), np.nan)),
        advise(np.eye(6)),
        Advice(np.zeros((), make_advice_dtype(("goal", "f8", (7,)))), 0.0),
    ],
    ids=["none", "taken back", "old", "NaN", "six rows", "no D"],
)
def test_without_usable_advice_the_axes_are_manual(advice):
    assert read_modes(advice, 2) == ()


def test_auto_finds_the_rule_and_tells_it():
    made = Retargeting(ROBOT, stick(3), RetargetSettings(modes="classic"))

    assert made.pairing.rules == {"axes"}
    assert made.describe() == (
        "hand drives arm, by axes (x y z | roll pitch yaw | gripper), scale 1, "
        "world axes"
    )


@pytest.mark.parametrize("mode", ["relative", "absolute", "joints"])
def test_other_rules_refuse_axes(mode):
    with pytest.raises(ConfigError, match="emits axes; use retarget.mode=auto"):
        Retargeting(ROBOT, stick(), RetargetSettings(mode=mode))


def test_axes_refuse_a_hand():
    with pytest.raises(ConfigError, match="expected a leader that emits axes"):
        Retargeting(ROBOT, LeaderInfo(limbs=("hand",)), RetargetSettings(mode="axes"))


def test_leaders_side_by_side_keep_their_axes_speeds_and_modes():
    slow = LeaderInfo(
        limbs=("hand",),
        emits="axes",
        axes={"hand": ("x", "y")},
        axis_speeds=AxisSpeeds(0.01, 0.1, 1.0),
    )
    group = merge_leaders({"left": stick(), "right": slow})
    two = load_robot("papras_7dof_2arm")
    rules = {"left": LimbRuleSettings(), "right": LimbRuleSettings(modes="classic")}

    made = Retargeting(two, group, RetargetSettings(limbs=rules))

    left, right = (own[0].rule for own in made.slots)
    assert (len(left.modes), len(right.modes)) == (1, 5)
    assert left._speeds[0] == 0.2
    assert right._speeds[0] == 0.01
