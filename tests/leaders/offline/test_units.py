"""Units that nobody named are told, and refused where they cannot be meant."""

import numpy as np
import pytest
from played import T_GOOD, make_leader, write_csv

from paprle.contracts.errors import ConfigError
from paprle.leaders.offline.config import ColumnSettings, OfflineConfig, UnitSettings
from paprle.leaders.offline.leader import Offline
from paprle.testing import ManualClock, make_robot_info

EULER = ColumnSettings(
    time="t",
    position=("x", "y", "z"),
    euler=("a", "b", "c"),
    euler_order="xyz_extrinsic",
)


def write_angles(tmp_path, c, scale=1.0):
    """A hand that turns to `c`, in whichever unit, and moves by 5 cm."""
    u = np.linspace(0, 1, len(T_GOOD))
    zero = np.zeros_like(u)
    rows = np.column_stack([T_GOOD, scale * 0.05 * u, zero, zero, zero, zero, c * u])
    return write_csv(tmp_path / "a.csv", "t,x,y,z,a,b,c", rows)


@pytest.mark.parametrize("c", [90.0, -90.0, 360.0, 7.0, -4.0])
def test_angles_that_are_no_radians_are_refused_with_the_option(tmp_path, c):
    path = write_angles(tmp_path, c)

    with pytest.raises(ConfigError, match=r"leader\.units\.angle=deg"):
        make_leader(path, columns=EULER)


def test_whole_numbers_are_no_radians(tmp_path):
    u = np.round(np.linspace(-3, 3, len(T_GOOD)))
    zero = np.zeros_like(u)
    rows = np.column_stack([T_GOOD, zero, zero, zero, u, zero, zero])
    path = write_csv(tmp_path / "a.csv", "t,x,y,z,a,b,c", rows)

    with pytest.raises(ConfigError, match="degrees"):
        make_leader(path, columns=EULER)


@pytest.mark.parametrize("c", [3.0, -3.0, 0.5, 6.2])
def test_angles_that_may_be_either_are_a_line_to_check(tmp_path, c):
    leader = make_leader(write_angles(tmp_path, c), columns=EULER)

    (check,) = [note for note in leader.notes if note.startswith("CHECK")]
    assert "assumed: rad" in check
    assert "leader.units.angle=deg" in check
    assert (
        "euler (xyz_extrinsic) from 'a' 'b' 'c' in [rad] (assumed)" in leader.notes[1]
    )


@pytest.mark.parametrize("unit", ["deg", "rad"])
def test_a_unit_that_is_named_is_believed(tmp_path, unit):
    settings = {"columns": EULER, "units": UnitSettings(angle=unit), "allow_loss": True}

    leader = make_leader(write_angles(tmp_path, 7.0), **settings)

    assert not any(note.startswith("CHECK") for note in leader.notes)
    assert f"in [{unit}]" in leader.notes[1]


def test_positions_of_no_arms_size_are_a_line_to_check(tmp_path):
    path = write_angles(tmp_path, 0.1, scale=100.0)  # cm

    leader = make_leader(path, columns=EULER, units=UnitSettings(angle="rad"))

    (check,) = [note for note in leader.notes if note.startswith("CHECK")]
    assert "leader.units.length" in check


@pytest.mark.parametrize("suffix", ["csv", "npz"])
def test_joints_that_are_no_radians_are_refused(tmp_path, suffix):
    q = np.column_stack([2.0 * T_GOOD, 30.0 + 3.0 * T_GOOD])
    path = tmp_path / f"a.{suffix}"
    if suffix == "csv":
        write_csv(path, "t,a,b", np.column_stack([T_GOOD, q]))
    else:
        np.savez(path, t=T_GOOD, q=q, joint_names=["a", "b"])

    with pytest.raises(ConfigError, match=r"'b' from 30 .*leader\.units\.angle=deg"):
        make_leader(path)
    assert make_leader(path, units=UnitSettings(angle="deg")).notes


@pytest.mark.parametrize("size", [0.5, 2.0, 3.0])
def test_joints_of_an_assumed_unit_are_a_line_to_check(tmp_path, size):
    q = size * np.sin(T_GOOD[:, None] + [0.0, 1.0])
    path = write_csv(tmp_path / "a.csv", "t,a,b", np.column_stack([T_GOOD, q]))

    (check,) = [one for one in make_leader(path).notes if one.startswith("CHECK")]
    named = make_leader(path, units=UnitSettings(angle="rad"))

    assert "assumed: rad" in check
    assert "leader.units.angle=deg" in check
    assert not any(note.startswith("CHECK") for note in named.notes)


def test_columns_that_are_no_joints_of_the_robot_have_units_of_their_own(tmp_path):
    robot = make_robot_info(1)
    header = f"t,{robot.joint_names[0]},force"
    rows = np.column_stack([T_GOOD, 0.1 * T_GOOD, np.full_like(T_GOOD, 40.0)])
    path = write_csv(tmp_path / "a.csv", header, rows)
    leader = Offline(OfflineConfig(path=str(path)), ManualClock())
    leader.meet(robot)

    leader.open()

    assert "in [rad] (assumed)" in leader.notes[1]
