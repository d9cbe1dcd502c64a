"""Tables as laboratories write them: their names, units, angles and delimiters."""

import numpy as np
import pinocchio as pin
import pytest
from played import POSE, T_GOOD, make_joint_rows, make_leader, make_pose_rows, write_csv

from paprle.config import resolve
from paprle.contracts.errors import ConfigError
from paprle.leaders.offline.config import ColumnSettings, OfflineConfig, UnitSettings
from paprle.leaders.offline.units import compute_quat_xyzw

LAB = ColumnSettings(
    time="Zeit",
    position=("X", "Y", "Z"),
    euler=("A", "B", "C"),
    euler_order="zyx_intrinsic",
)
MM_DEG = UnitSettings(time="ms", length="mm", angle="deg")


def write(path, lines):
    path.write_text("\n".join(lines) + "\n")
    return path


def write_lab(path, separator=";", decimal=","):
    """20 rows in ms, mm and degrees: along x, turning about z as KUKA's A does."""
    rows = [
        separator.join(
            f"{x:.3f}".replace(".", decimal)
            for x in (1e3 * t, 100 * t, 5, -2, 10 * t, 0, 0)
        )
        for t in T_GOOD
    ]
    return write(path, [separator.join(("Zeit", "X", "Y", "Z", "A", "B", "C")), *rows])


def pose_at(leader, t):
    (track,) = leader._load()[0].tracks.values()
    return track.at(t).T_leader_base_leader_eef


@pytest.mark.parametrize(
    ("separator", "decimal"),
    [(";", ","), (";", "."), ("\t", ","), ("|", "."), (",", ".")],
)
def test_a_laboratorys_file_moves_as_it_says(tmp_path, separator, decimal):
    path = write_lab(tmp_path / "a.csv", separator, decimal)

    leader = make_leader(path, columns=LAB, units=MM_DEG)

    T = pose_at(leader, 1.0)
    R = pin.rpy.rpyToMatrix(0, 0, np.radians(10))
    assert T.isApprox(pin.SE3(R, np.array([0.1, 0.005, -0.002])), 1e-9)


def test_the_notes_list_the_columns_and_their_units(tmp_path):
    leader = make_leader(write_lab(tmp_path / "a.csv"), columns=LAB, units=MM_DEG)

    assert leader.notes == (
        "a.csv: 100 rows",
        "a.csv: columns between semicolons, time from 'Zeit' in [ms], position from "
        "'X' 'Y' 'Z' in [mm], euler (zyx_intrinsic) from 'A' 'B' 'C' in [deg]",
    )


def test_units_in_the_header_are_read(tmp_path):
    names = ["t [ms]", "x [mm]", "y (mm)", "z [cm]", "qx", "qy", "qz", "qw []"]
    rows = make_pose_rows(T_GOOD) * [1e3, 1e3, 1e3, 1e2, 1, 1, 1, 1]
    rows[:, 3] = 50.0

    leader = make_leader(write_csv(tmp_path / "a.csv", ",".join(names), rows))

    assert pose_at(leader, 1.0).translation == pytest.approx([0.1, 0.0, 0.5])


def test_units_that_are_said_win_over_the_header(tmp_path):
    header = POSE.replace("x,y,z", "x [mm],y [mm],z [mm]", 1)
    path = write_csv(tmp_path / "a.csv", header, make_pose_rows(T_GOOD))

    leader = make_leader(path, units=UnitSettings(length="m"))

    assert pose_at(leader, 1.0).translation[0] == pytest.approx(0.1)


def test_joints_in_degrees(tmp_path):
    path = write_csv(tmp_path / "a.csv", "t,j1 [deg],j2", make_joint_rows(T_GOOD))

    by_header = make_leader(path)
    all_said = make_leader(path, units=UnitSettings(angle="deg"), joints=("j1", "j2"))

    assert by_header.info.joint_names == {"hand": ("j1", "j2")}
    assert by_header.latest().limbs["hand"].q == pytest.approx([0, 1])
    assert all_said.latest().limbs["hand"].q == pytest.approx([0, np.radians(1)])


def test_units_of_an_npz(tmp_path):
    rows = make_pose_rows(T_GOOD)
    np.savez(
        tmp_path / "a.npz",
        t=1e3 * rows[:, 0],
        p=1e3 * rows[:, 1:4],
        quat_xyzw=rows[:, 4:],
    )

    leader = make_leader(tmp_path / "a.npz", units=UnitSettings(time="ms", length="mm"))

    assert pose_at(leader, 1.0).translation[0] == pytest.approx(0.1)


@pytest.mark.parametrize("order", ["xyz", "zyx", "zyz", "xzx", "yxz"])
@pytest.mark.parametrize("frame", ["extrinsic", "intrinsic"])
def test_euler_angles_turn_about_their_axes_in_order(order, frame):
    angles = np.random.default_rng(3).uniform(-4, 4, (20, 3))

    quats = compute_quat_xyzw(angles, f"{order}_{frame}")

    for row, quat in zip(angles, quats, strict=True):
        turns = [
            pin.exp3(angle * np.eye(3)["xyz".index(axis)])
            for angle, axis in zip(row, order, strict=True)
        ]
        first, second, third = turns if frame == "intrinsic" else turns[::-1]
        R = pin.Quaternion(quat).toRotationMatrix()
        assert first @ second @ third == pytest.approx(R, abs=1e-12)


def test_positions_alone_keep_the_orientation(tmp_path):
    path = write_csv(tmp_path / "a.csv", "t,a,b,c", make_pose_rows(T_GOOD)[:, :4])
    columns = ColumnSettings(position=("a", "b", "c"))

    leader = make_leader(path, columns=columns)

    assert pose_at(leader, 1.0).rotation == pytest.approx(np.eye(3))
    assert "no orientation, which stays as it is" in leader.notes[1]
    with pytest.raises(
        ConfigError, match=r"leader\.frame=absolute, got positions alone"
    ):
        make_leader(path, columns=columns, frame="absolute")


def test_quaternions_of_other_names_and_order(tmp_path):
    rows = make_pose_rows(T_GOOD)[:, [0, 1, 2, 3, 7, 4, 5, 6]]
    path = write_csv(tmp_path / "a.csv", "time,a,b,c,d,e,f,g", rows)
    columns = ColumnSettings(position=tuple("abc"), quat_wxyz=tuple("defg"))

    leader = make_leader(path, columns=columns)

    expected = pin.rpy.rpyToMatrix(0, 0, 0.5)
    assert pose_at(leader, 1.0).rotation == pytest.approx(expected)


def test_angles_without_a_stated_order_are_asked_for(tmp_path):
    rows = make_pose_rows(T_GOOD)[:, :7]
    path = write_csv(tmp_path / "a.csv", "t,x,y,z,roll,pitch,yaw", rows)

    with pytest.raises(
        ConfigError, match=r"leader\.columns\.euler_order=xyz_extrinsic"
    ):
        make_leader(path)


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"columns.position": "[x, y]"}, "3 columns in 'position'"),
        ({"columns.euler": "[a, b, c]"}, "both or none of 'euler'"),
        (
            {"columns.euler": "[a, b, c]", "columns.euler_order": "xxz_intrinsic"},
            "an 'euler_order' such as",
        ),
        (
            {"columns.quat_xyzw": "[a, b, c, d]", "columns.quat_wxyz": "[a, b, c, d]"},
            "one of 'quat_xyzw'",
        ),
        ({"units.length": "inch"}, "'m', 'cm' or 'mm'"),
    ],
)
def test_columns_that_make_no_pose_are_refused(settings, match):
    words = [f"leader.{key}={value}" for key, value in settings.items()]

    with pytest.raises(ConfigError, match=match):
        resolve(("leader=offline", "follower=piper", "env=kinematic", *words))


def test_a_column_that_is_not_there_is_told_with_those_that_are(tmp_path):
    path = write_lab(tmp_path / "a.csv")
    columns = ColumnSettings(time="Zeiit", position=("X", "Y", "Z"))

    with pytest.raises(ConfigError, match=r"'Zeiit' of leader\.columns\.time.*'Zeit'"):
        make_leader(path, columns=columns)


def test_a_file_without_a_header_gets_its_names(tmp_path):
    lines = [" ".join(map(repr, map(float, row))) for row in make_joint_rows(T_GOOD)]
    path = write(tmp_path / "a.csv", lines)

    leader = make_leader(path, columns=ColumnSettings(names=("t", "j1", "j2")))

    assert leader.info.joint_names == {"hand": ("j1", "j2")}


def test_a_delimiter_that_is_given_is_believed(tmp_path):
    path = write(tmp_path / "a.csv", ["t|j,1", *(f"{t}|{t}" for t in T_GOOD)])

    leader = make_leader(path, columns=ColumnSettings(delimiter="bar"))

    assert leader.info.joint_names == {"hand": ("j,1",)}


def test_quoted_numbers(tmp_path):
    path = write(tmp_path / "a.csv", ["t,j1", *(f'"{t}","{t}"' for t in T_GOOD)])

    assert make_leader(path).notes[0] == "a.csv: 100 rows"


EUROC = (
    "#timestamp{}, p_RS_R_x [m], p_RS_R_y [m], p_RS_R_z [m], q_RS_w [], q_RS_x [], "
    "q_RS_y [], q_RS_z [], v_RS_R_x [m s^-1]"
)


@pytest.mark.parametrize("unit", ["", " [ns]"])
def test_euroc(tmp_path, unit):
    rows = make_pose_rows(T_GOOD)
    lines = [
        f"{1403636580838555648 + round(r[0] * 1e9)},"
        + ",".join(map(repr, map(float, (*r[1:4], r[7], *r[4:7], 0.0))))
        for r in rows
    ]
    leader = make_leader(write(tmp_path / "data.csv", [EUROC.format(unit), *lines]))

    assert pose_at(leader, 1.0).translation[0] == pytest.approx(0.1, abs=1e-6)
    expected = pin.rpy.rpyToMatrix(0, 0, 0.5)
    assert pose_at(leader, 1.0).rotation == pytest.approx(expected, abs=1e-6)
    assert not leader.info.is_absolute


def test_lines_of_t_xyz_wxyz(tmp_path):
    lines = [
        f"{r[0]};{r[1]},{r[2]},{r[3]};{r[7]},{r[4]},{r[5]},{r[6]}"
        for r in make_pose_rows(T_GOOD).tolist()
    ]
    leader = make_leader(write(tmp_path / "path.txt", lines))

    expected = pin.rpy.rpyToMatrix(0, 0, 0.5)
    assert pose_at(leader, 1.0).rotation == pytest.approx(expected)
    assert "lines of t;x,y,z;w,x,y,z" in leader.notes[1]


@pytest.mark.parametrize("separator", [",", ";", "\t", " "])
def test_tum_between_anything_and_with_an_indented_comment(tmp_path, separator):
    rows = make_pose_rows(T_GOOD).tolist()
    lines = [separator.join(map(repr, row)) for row in rows]
    path = write(tmp_path / "a.txt", ["  # ground truth", *lines])

    leader = make_leader(path)

    assert leader.notes[0] == "a.txt: 100 rows"
    assert pose_at(leader, 1.0).translation[0] == pytest.approx(0.1)


def test_columns_of_several_limbs(tmp_path):
    names = [f"{limb}_{c}" for limb in ("left", "right") for c in ("X", "Y", "Z")]
    rows = np.column_stack([T_GOOD, *[0.1 * k * T_GOOD for k in range(6)]])
    path = write_csv(tmp_path / "a.csv", ",".join(["t", *names]), rows)

    leader = make_leader(
        path, limbs=("left", "right"), columns=ColumnSettings(position=("X", "Y", "Z"))
    )

    right = leader._load()[0].tracks["right"].at(1.0)
    assert right.T_leader_base_leader_eef.translation == pytest.approx([0.3, 0.4, 0.5])


def test_the_plain_config_reads_si_units():
    assert OfflineConfig().units == UnitSettings()
