"""Text as spreadsheets, instruments and ROS write it."""

import numpy as np
import pytest
from played import T_GOOD, make_leader, make_pose_rows, play, positions

from paprle.contracts.errors import ConfigError
from paprle.leaders.offline.config import ColumnSettings, OfflineConfig
from paprle.leaders.offline.motion import load_motion

GERMAN = ColumnSettings(
    time="Zeit",
    position=("Länge", "Höhe", "Tiefe"),
)


def write_german(tmp_path, encoding, titles=(), units=(), end="\r\n"):
    rows = [
        ";".join(f"{x:.4f}".replace(".", ",") for x in (t, 0.1 * t, 0, 0))
        for t in T_GOOD
    ]
    lines = [*titles, "Zeit;Länge;Höhe;Tiefe", *units, *rows]
    path = tmp_path / "a.csv"
    path.write_bytes((end.join(lines) + end).encode(encoding))
    return path


@pytest.mark.parametrize(
    ("encoding", "told"),
    [
        ("utf-8", ""),
        ("utf-8-sig", ""),
        ("latin-1", "Latin-1"),
        ("utf-16", "UTF-16"),
        ("utf-16-le", "UTF-16"),
        ("utf-16-be", "UTF-16"),
    ],
)
def test_a_table_is_read_in_the_encoding_it_has(tmp_path, encoding, told):
    leader = make_leader(write_german(tmp_path, encoding), columns=GERMAN)
    _, samples = play(leader)

    assert positions(samples)[-1, 0] == pytest.approx(0.198, abs=1e-3)
    assert leader.notes[1].startswith(f"a.csv: {told}")


@pytest.mark.parametrize(
    "titles",
    [
        ("Messung vom 3. Mai",),
        ("Messung;;;", ";;;"),
        ("Prüfer: Müller", "Gerät; Nr 7", "Rate 50"),
    ],
)
@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_titles_above_the_header_are_left_out_and_told(tmp_path, titles, encoding):
    leader = make_leader(write_german(tmp_path, encoding, titles), columns=GERMAN)
    _, samples = play(leader)

    assert positions(samples)[-1, 0] == pytest.approx(0.198, abs=1e-3)
    assert f"{len(titles)} title line(s) above the header left out" in leader.notes[1]


def test_a_line_of_units_below_the_header_is_read(tmp_path):
    path = write_german(tmp_path, "utf-8", units=("s;cm;cm;cm",))

    leader = make_leader(path, columns=GERMAN)
    _, samples = play(leader)

    assert positions(samples)[-1, 0] == pytest.approx(0.00198, abs=1e-5)
    assert "in [cm]" in leader.notes[1]


def make_poses():
    return [",".join(f"{x:.9f}" for x in row[1:]) for row in make_pose_rows(T_GOOD)]


STAMPS = [1732700000123456789 + round(t * 1e9) for t in T_GOOD]


def write_ros2(frames=("base_link",)):
    return [
        f"{ns // 10**9},{ns % 10**9},{frames[i * len(frames) // len(STAMPS)]},{pose}"
        for i, (ns, pose) in enumerate(zip(STAMPS, make_poses(), strict=True))
    ]


def write_ros1():
    fields = [f"position.{a}" for a in "xyz"] + [f"orientation.{a}" for a in "xyzw"]
    names = ["%time", "field.header.seq", "field.header.stamp", "field.header.frame_id"]
    rows = zip(STAMPS, make_poses(), strict=True)
    return [
        ",".join([*names, *(f"field.pose.{name}" for name in fields)]),
        *(f"{ns + 5000},{i},{ns},base_link,{p}" for i, (ns, p) in enumerate(rows)),
    ]


def write(tmp_path, lines):
    path = tmp_path / "a.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("lines", [write_ros2(), write_ros1()], ids=["ros2", "ros1"])
def test_poses_printed_by_ros_are_played_by_their_stamps(tmp_path, lines):
    leader = make_leader(write(tmp_path, lines))
    t, samples = play(leader)

    p = positions(samples)[:, 0]
    assert t[-1] == pytest.approx(T_GOOD[-1], abs=0.01)
    assert p[len(p) // 2] == pytest.approx(0.1 * t[len(p) // 2], abs=1e-3)
    assert "in frame 'base_link'" in leader.notes[1]


def test_poses_printed_in_several_frames_are_refused(tmp_path):
    path = write(tmp_path, write_ros2(("base_link", "camera")))

    with pytest.raises(ConfigError, match="one frame, got base_link, camera"):
        load_motion(OfflineConfig(path=str(path)))


@pytest.mark.parametrize("kind", ["ros2", "ros1"])
@pytest.mark.parametrize("n_arrays", [1, 3])
def test_joints_printed_by_ros_are_played(tmp_path, kind, n_arrays):
    q = np.column_stack([np.sin(T_GOOD), 0.5 * T_GOOD])
    arrays = ["position", "velocity", "effort"][:n_arrays]
    lines = []
    if kind == "ros1":
        head = ["%time", "field.header.seq", "field.header.stamp"]
        head += ["field.header.frame_id", "field.name0", "field.name1"]
        lines.append(",".join(head + [f"field.{a}{i}" for a in arrays for i in (0, 1)]))
    for k, ns in enumerate(STAMPS):
        stamp = f"{ns // 10**9},{ns % 10**9}," if kind == "ros2" else f"{ns},{k},{ns},"
        values = [repr(float(x)) for x in q[k]] + ["0.0"] * 2 * (n_arrays - 1)
        lines.append(f"{stamp},pan,tilt,{','.join(values)}")

    leader = make_leader(write(tmp_path, lines))
    _, samples = play(leader)

    assert leader.info.joint_names == {"hand": ("pan", "tilt")}
    assert samples[-1].limbs["hand"].q == pytest.approx(q[-1], abs=1e-3)


def test_another_type_printed_by_ros_names_what_can_be_played(tmp_path):
    lines = ["%time,field.linear.x,field.linear.y", "1,0.1,0.2", "2,0.1,0.2"]

    with pytest.raises(ConfigError, match="expected PoseStamped or JointState"):
        make_leader(write(tmp_path, lines))
