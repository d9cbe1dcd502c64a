"""Words, imported values and postures of new leaders, and what is refused."""

import json
import math

import numpy as np
import pytest

from paprle.contracts.errors import ConfigError
from paprle_lab.onboarding.leader.arm_words import read_words
from paprle_lab.onboarding.leader.gello import read_gello
from paprle_lab.onboarding.leader.lerobot import convert_lerobot
from paprle_lab.onboarding.leader.two_poses import (
    JointPoses,
    compare_home,
    find_lone_turns,
    find_mirrored,
    fit_servos,
)

SOURCE = """DynamixelRobotConfig(
    joint_ids=(1, 2, 3),
    joint_offsets=(3 * np.pi / 2, -np.pi / 2 + 2 * np.pi, 1.5708),
    joint_signs=(1, -1, 1),
    gripper_config=(8, 195, 152),
),"""


def test_words_become_axes_and_ways():
    arm = read_words("up 60, yaw; UP 50mm forward 10, lift pitch up gear 2.2\ndown 5")

    base, lift = arm.joints
    assert (base.name, base.axis, base.gear) == ("joint1", (0.0, 0.0, 1.0), None)
    assert base.xyz == pytest.approx((0.0, 0.0, 0.06))
    assert (lift.name, lift.gear) == ("lift", 2.2)
    assert lift.axis == (0.0, -1.0, 0.0)
    assert lift.xyz == pytest.approx((0.01, 0.0, 0.05))
    assert arm.hand == pytest.approx((0.0, 0.0, -0.005))
    assert not arm.has_gripper


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("up, yaw", "a direction and millimetres"),
        ("up 3 sideways 4, yaw", "got 'sideways'"),
        ("up nan, yaw", "a number above 0"),
        ("up 1e9, yaw", "up to 2000"),
        ("up 60, elbow bends", "expected an axis: yaw, pitch, roll, got 'bends'"),
        ("a yaw, a pitch", "a twice"),
        ("gripper, yaw", "expected the gripper last"),
        ("yaw up", "expected left or right"),
        ("up 60", "expected joints, got none"),
        ("lorem ipsum", "got 'ipsum'"),
    ],
)
def test_nonsense_words_are_refused_with_the_form(words, text):
    with pytest.raises(ConfigError, match=text) as refused:
        read_words(words)

    assert "steps from the base to the hand" in str(refused.value)


def test_gellos_source_is_read_in_our_angles(tmp_path):
    values = read_gello(tmp_path / "values.py", SOURCE)

    assert values.ids == (1, 2, 3)
    assert values.signs == (1, -1, 1)
    wanted = (math.pi / 2, math.pi / 2, 1.5708 - math.pi)
    assert values.offsets == pytest.approx(wanted)
    assert values.gripper is not None
    number, closed, opened = values.gripper
    assert number == 8
    assert (closed, opened) == pytest.approx(
        (math.radians(152 - 180), math.radians(195 - 180))
    )


def test_gellos_yaml_is_read_at_any_depth(tmp_path):
    path = tmp_path / "gello.yaml"
    path.write_text(
        "agent:\n  dynamixel_config:\n    joint_ids: [1, 2]\n"
        "    joint_offsets: [6.28319, 4.71239]\n    joint_signs: [1.0, -1.0]\n"
        "    gripper_config: [7, -34.1875, 25.3125]\n"
    )

    values = read_gello(path, path.read_text())

    assert values.offsets == pytest.approx((math.pi, math.pi / 2), abs=1e-4)
    assert values.signs == (1, -1)


@pytest.mark.parametrize(
    "evil",
    [
        "__import__('os').system('touch {there}')",
        "open('{there}', 'w').write('x')",
        "(lambda: 1)()",
        "9 ** 9 ** 9",
        "[x for x in (1, 2)]",
        "np.pi.__class__",
        "'text'",
        "1 / 0",
    ],
)
def test_source_is_read_and_never_run(tmp_path, evil):
    there = tmp_path / "made"
    text = SOURCE.replace("1.5708", evil.format(there=there))

    with pytest.raises(ConfigError, match="expected"):
        read_gello(tmp_path / "values.py", text)

    assert not there.exists()


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("(1, -1, 1)", "(1, -1)", "as many joint_ids, joint_offsets and joint_signs"),
        ("(1, -1, 1)", "(1, -1, 2)", "joint_signs: expected 1 or -1"),
        ("(8, 195, 152)", "(8, 195)", "expected id, open and closed"),
        (",\n    joint_signs=(1, -1, 1)", "", "joint_signs: expected a list, got None"),
        ("),", "), DynamixelRobotConfig(joint_ids=(1,)),", "got 2 arms"),
    ],
)
def test_incomplete_values_are_refused(tmp_path, old, new, text):
    at = SOURCE.rindex(old)

    with pytest.raises(ConfigError, match=text):
        read_gello(tmp_path / "values.py", SOURCE[:at] + new + SOURCE[at + len(old) :])


def make_motor(number, drive_mode=0, low=1024, high=3072):
    return {
        "id": number,
        "drive_mode": drive_mode,
        "homing_offset": 7,
        "range_min": low,
        "range_max": high,
    }


def test_lerobots_middle_is_zero_and_its_drive_mode_the_sign(tmp_path):
    tree = {"pan": make_motor(1), "lift": make_motor(2, 1, 2048, 3072)}
    tree["gripper"] = make_motor(3, 0, 2048, 3072)

    values = convert_lerobot(tmp_path / "koch.json", json.loads(json.dumps(tree)), 2)

    assert values.signs == (1, -1)
    assert values.offsets == pytest.approx((0.0, -math.pi / 4))
    assert values.gripper == (3, 0.0, pytest.approx(math.pi / 2))


def test_lerobots_file_of_another_arm_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="expected 4 joints and perhaps a gripper"):
        convert_lerobot(tmp_path / "koch.json", {"pan": make_motor(1)}, 4)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("gear", [1.0, 0.5, 20 / 44, 2.0, 2.2, 3.0])
@pytest.mark.parametrize("offset", [0.0, math.pi, -7.0])
def test_two_postures_show_sign_gear_and_zero(sign, gear, offset):
    pose = JointPoses(name="a", first=-0.3, turn=math.radians(45))
    first = np.array([sign * gear * pose.first + offset])
    second = first + sign * gear * pose.turn

    (fit,), problems = fit_servos([pose], first, second)

    assert not problems
    assert (fit.sign, fit.gear) == (sign, gear)
    assert fit.offset == pytest.approx(offset)
    assert fit.residual == pytest.approx(0.0, abs=1e-12)


def test_half_of_an_error_of_the_postures_is_in_the_zero_and_told():
    pose = JointPoses(name="a", first=0.0, turn=math.radians(45))

    (fit,), problems = fit_servos([pose], np.zeros(1), np.radians([49.0]))

    assert not problems
    assert math.degrees(fit.residual) == pytest.approx(4.0)
    assert math.degrees(fit.offset) == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("turned", "gear", "text"),
    [
        (1.0, None, "expected a turn of 45"),
        (66.0, None, "by a known gear"),
        (94.5, None, "expected one gear, got 2.2 or 2|got 2 or 2.2"),
        (45.0, 2.0, "gear 2 times 45"),
    ],
)
def test_implausible_turns_are_refused(turned, gear, text):
    pose = JointPoses(name="elbow", first=0.0, turn=math.radians(45), gear=gear)

    _, problems = fit_servos([pose], np.zeros(1), np.radians([turned]))

    assert len(problems) == 1
    assert problems[0].startswith("elbow: ")
    assert any(part in problems[0] for part in text.split("|"))


def test_imported_zeros_of_another_posture_are_refused():
    pose = JointPoses(name="elbow", first=0.0, turn=0.8)
    (fit,), _ = fit_servos([pose], np.zeros(1), np.array([0.8]))

    assert not compare_home([pose], [fit], np.array([2 * math.pi + 0.1]))
    (text,) = compare_home([pose], [fit], np.array([1.0]))
    assert "expected +0 [deg] in this posture, got +57" in text


def sweep(order, n, start=0.0):
    """Servos that begin elsewhere, return together, and turn one after the other."""
    rows = [np.full(n, start), np.zeros(n)]
    for i in order:
        for angle in (0.3, 0.6, 0.0, -0.6, 0.0):
            row = np.zeros(n)
            row[i] = angle
            rows.append(row)
    return np.array(rows)


@pytest.mark.parametrize("order", [[0, 1, 2], [1, 0, 2], [2, 1, 0]])
def test_the_order_of_a_sweep_is_that_of_lone_turns(order):
    travel, moved = find_lone_turns(sweep(order, 3, start=0.9))

    assert moved == order
    assert travel == pytest.approx([2.4] * 3)


def test_servos_that_turn_against_each_other_are_a_pair():
    rows = sweep([0, 1], 2)
    both = np.column_stack([rows, -rows[:, 1]])

    assert find_mirrored(["1", "2", "3"], both) == [("2", "3")]
