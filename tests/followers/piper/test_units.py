import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paprle.followers.piper.units import (
    Units,
    is_too_old,
    parse_version,
    to_finger,
    to_opening,
)
from paprle_emulators.piper.protocol import ANGLE_LIMITS_DEG

LIMITS = [(10 * low, 10 * high) for low, high in ANGLE_LIMITS_DEG]
OLD, NEW = (1, 5, 2), (1, 6, 3)
HOME = np.array([0.0, 1.5, -1.0, 0.0, -0.75, 0.0])


@given(st.lists(st.floats(-1, 1), min_size=6, max_size=6))
def test_joints_come_back_within_half_a_quantum(away):
    for version in (OLD, NEW):
        units = Units(version, LIMITS)
        q = HOME + 0.4 * np.array(away)

        angles = units.to_angles(q)

        assert all(type(angle) is int for angle in angles), "the SDK takes no others"
        error = np.abs(units.to_joints(angles) - q).max()
        assert error <= np.radians(0.5e-3) * (1 + 1e-6)


def test_newer_firmware_has_other_zeros():
    old, new = Units(OLD, LIMITS), Units(NEW, LIMITS)

    shift = np.subtract(new.to_angles(HOME), old.to_angles(HOME))

    assert shift.tolist() == [0, -2000, 2000, 0, 0, 0]


@pytest.mark.parametrize("version", [OLD, NEW])
def test_the_shift_is_the_one_of_the_vendors_kinematics(version):
    """The SDK's hand for a newer arm is where ours is, and so for an older one."""
    piper_sdk = pytest.importorskip("piper_sdk")
    vendor = piper_sdk.C_PiperForwardKinematics(int(version == NEW))
    reference = piper_sdk.C_PiperForwardKinematics(0)
    angles = np.array(Units(version, LIMITS).to_angles(HOME)) * 1e-3

    hand = vendor.CalFK(list(np.radians(angles)))[-1]
    ours = reference.CalFK(list(HOME))[-1]

    assert hand == pytest.approx(ours, abs=0.02)  # [mm], [°]


def test_targets_are_kept_to_the_arms_own_limits():
    units = Units(NEW, LIMITS)

    angles = units.to_angles(np.zeros(6))

    assert angles[1] == 0
    assert angles[2] == 0
    assert not units.allows(np.zeros(6))
    assert units.allows(HOME)


@pytest.mark.parametrize(
    "version, limits, tighter",
    [
        (OLD, {}, {}),
        (OLD, {3: (-995, 1000)}, {(3, "q_min"): -1.7366}),
        (OLD, {0: (-1500, 1400)}, {(0, "q_max"): 2.4434}),
        (NEW, {}, {(1, "q_min"): 0.0350, (2, "q_max"): -0.0350}),
    ],
)
def test_limits_of_the_arm_that_would_cut_off_a_target_are_found(
    robot, version, limits, tighter
):
    units = Units(version, [limits.get(i, pair) for i, pair in enumerate(LIMITS)])
    q_min, q_max = robot.q_min[:6].copy(), robot.q_max[:6].copy()

    found = {(i, side): q for i, side, q in units.find_tighter(q_min, q_max)}

    assert found == pytest.approx(tighter)
    for (i, side), q in found.items():
        (q_min if side == "q_min" else q_max)[i] = q
    assert not [*units.find_tighter(q_min, q_max)]
    for q in (q_min, q_max):
        np.testing.assert_allclose(units.to_joints(units.to_angles(q)), q, atol=2e-5)


def test_lost_limits_allow_nothing():
    assert not Units(OLD, [(-1, -1)] * 6).allows(HOME)


@given(st.floats(0, 0.035))
def test_a_finger_travels_half_the_opening(travel):
    opening = to_opening(travel)

    assert type(opening) is int
    assert 0 <= opening <= 70_000
    assert to_finger(opening) == pytest.approx(travel, abs=0.26e-6)


@pytest.mark.parametrize(
    ("text", "version"),
    [("S-V1.6-3", (1, 6, 3)), ("S-V1.10-12", (1, 10, 12)), ("", None), ("V2", None)],
)
def test_versions_are_read_as_numbers(text, version):
    assert parse_version(text) == version


def test_the_protocol_has_a_first_firmware():
    assert is_too_old((1, 5, 1))
    assert not is_too_old((1, 5, 2))
    assert not is_too_old((1, 10, 0))


@pytest.mark.parametrize(
    ("version", "factor"), [((1, 5, 2), 4), ((1, 8, 2), 4), ((1, 8, 3), 1)], ids=str
)
def test_torques_of_joints_1_to_3_have_a_factor_by_firmware(version, factor):
    tau = Units(version, LIMITS).to_torques([1000.0] * 6)

    assert tau == pytest.approx([factor] * 3 + [1.0] * 3)
