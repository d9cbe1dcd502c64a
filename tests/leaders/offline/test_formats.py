import numpy as np
import pinocchio as pin
import pytest
from played import (
    POSE,
    T_GOOD,
    TURN,
    make_joint_rows,
    make_leader,
    make_pose_rows,
    play,
    positions,
    shared,
    write_csv,
)

from paprle.contracts.errors import ConfigError, DeviceError, PaprleError
from paprle.leaders.offline.config import KeySettings


class TestFormats:
    def test_windows_line_ends_quotes_and_byte_order_mark(self, tmp_path):
        path = tmp_path / "a.csv"
        rows = "".join(f"{t},{t / 2}\r\n" for t in T_GOOD)
        path.write_bytes(('\ufeff"time", "j1"\r\n' + rows).encode())

        leader = make_leader(path)

        assert leader.info.joint_names == {"hand": ("j1",)}
        assert leader.notes[0] == "a.csv: 100 rows"

    def test_tum_is_relative_and_found_by_its_content(self, tmp_path):
        path = tmp_path / "a.txt"
        rows = "\n".join(" ".join(map(str, row)) for row in make_pose_rows(T_GOOD))
        path.write_text("# ground truth\n" + rows + "\n")

        leader = make_leader(path)

        assert leader.info.emits == "pose"
        assert not leader.info.is_absolute
        assert leader.notes[0] == "a.txt: 100 rows"

    @pytest.mark.parametrize(
        ("frame", "is_absolute"), [("auto", True), ("relative", False)]
    )
    def test_arbot_is_absolute_unless_told(self, tmp_path, frame, is_absolute):
        header = "capture_timestamp,target_pos_x,target_pos_y,target_pos_z," + ",".join(
            f"target_orient_{a}" for a in "xyzw"
        )
        path = write_csv(tmp_path / "a.csv", header, make_pose_rows(T_GOOD))

        assert make_leader(path, frame=frame).info.is_absolute is is_absolute

    def test_joints_are_chosen_by_name(self, tmp_path):
        rows = make_joint_rows(T_GOOD)
        path = write_csv(tmp_path / "a.csv", "t,j1,j2", rows)

        leader = make_leader(path, joints=("j2",))

        assert leader.info.joint_names == {"hand": ("j2",)}
        assert leader.latest().limbs["hand"].q.tolist() == [1.0]

    def test_file_without_stamps_needs_dt(self, tmp_path):
        path = write_csv(tmp_path / "a.csv", "j1,j2", make_joint_rows(T_GOOD)[:, 1:])

        with pytest.raises(ConfigError, match=r"stamps.*leader\.dt"):
            make_leader(path)
        t, _ = play(make_leader(path, dt=0.02))

        assert t[-1] == pytest.approx(99 * 0.02, abs=0.006)

    def test_npz_with_usual_names(self, tmp_path):
        path = tmp_path / "a.npz"
        rows = make_joint_rows(T_GOOD)
        np.savez(path, t=rows[:, 0], q=rows[:, 1:], joint_names=["j1", "j2"])

        leader = make_leader(path)

        assert leader.info.joint_names == {"hand": ("j1", "j2")}
        assert leader.latest().limbs["hand"].q == pytest.approx([0, 1])

    @pytest.mark.parametrize("order", ["xyzw", "wxyz"])
    @pytest.mark.parametrize("is_joined", [True, False])
    def test_npz_poses_in_both_quaternion_orders(self, tmp_path, order, is_joined):
        path = tmp_path / "a.npz"
        turn = TURN if order == "xyzw" else np.roll(TURN, 1)
        quats = np.tile(turn, (100, 1))
        p = np.tile([1.0, 2.0, 3.0], (100, 1))
        if is_joined:
            arrays = {f"pose_{order}": np.hstack([p, quats])}
        else:
            arrays = {"position": p, f"quat_{order}": quats}
        np.savez(path, time=T_GOOD, **arrays)

        T = make_leader(path).latest().limbs["hand"].T_leader_base_leader_eef

        x, y, z, w = TURN
        expected = pin.SE3(pin.Quaternion(w, x, y, z), np.array([1.0, 2, 3]))
        assert T.isApprox(expected, 1e-12)

    def test_npz_of_objects_is_not_unpickled(self, tmp_path):
        path = tmp_path / "a.npz"
        np.savez(path, t=T_GOOD, q=np.array([object()] * 100))

        with pytest.raises(ConfigError, match="expected a pose"):
            make_leader(path)

    def test_npz_says_what_it_has(self, tmp_path):
        path = tmp_path / "a.npz"
        np.savez(path, angles=np.zeros((5, 3)))

        with pytest.raises(ConfigError, match=r"arrays angles \(5, 3\)"):
            make_leader(path)

    def test_own_limbs_in_one_csv(self, tmp_path):
        t = T_GOOD
        rows = np.column_stack([t, t, 2 * t, 3 * t])
        path = write_csv(tmp_path / "a.csv", "t,left/j1,left/j2,right_j1", rows)

        leader = make_leader(path, limbs=("left", "right"))

        assert leader.info.limbs == ("left", "right")
        assert leader.info.joint_names == {
            "left": ("left/j1", "left/j2"),
            "right": ("right_j1",),
        }

    def test_own_limbs_in_one_npz(self, tmp_path):
        path = tmp_path / "a.npz"
        q = make_joint_rows(T_GOOD)[:, 1:]
        np.savez(path, t=T_GOOD, left_q=q, right_q=-q)

        leader = make_leader(path, limbs=("left", "right"), joints=("a", "b"))

        limbs = leader.latest().limbs
        assert limbs["right"].q == pytest.approx(-limbs["left"].q)

    def test_one_file_a_limb_shares_the_clock(self, tmp_path):
        rows = make_pose_rows(T_GOOD)
        left = write_csv(tmp_path / "l.csv", POSE, rows)
        rows[:, 0] += 0.5
        right = write_csv(tmp_path / "r.csv", POSE, rows)

        leader = make_leader(paths={"left": str(left), "right": str(right)})
        t, samples = play(leader)

        assert leader.info.limbs == ("left", "right")
        assert t[-1] == pytest.approx(T_GOOD[-1] + 0.5, abs=0.006)
        late = np.clip(t - 0.5, 0, T_GOOD[-1])
        assert positions(samples, "right")[:, 0] == pytest.approx(0.1 * late, abs=1e-9)

    def test_files_of_different_days_start_together(self, tmp_path):
        rows = make_pose_rows(T_GOOD)
        left = write_csv(tmp_path / "l.csv", POSE, rows)
        rows[:, 0] += 86400
        right = write_csv(tmp_path / "r.csv", POSE, rows)

        leader = make_leader(paths={"left": str(left), "right": str(right)})

        assert "do not overlap" in leader.notes[-1]
        assert play(leader)[0][-1] == pytest.approx(T_GOOD[-1], abs=0.006)


class TestErrors:
    @pytest.mark.parametrize(
        ("text", "match"),
        [
            ("", "empty file"),
            ("t,j1\n", "rows of motion"),
            ("0.0,1.0\n0.1,2.0\n", "header line"),
            ("j1,j2\n1,2\n", "stamps"),
            ("t,x,y,z\n0,1,2,3\n", "expected a pose"),
            ("t,j1,j1\n0,1,1\n", "once"),
            ("t,j1\nx,y\nx,y\n", "2 lines that are not numbers"),
            ("t,j1\n0,1\n33,1\n66,2\n", r"leader\.max_gap"),
            ("\x00\xff\x00", "header line"),
        ],
        ids=str,
    )
    def test_unusable_file_says_what_was_found(self, tmp_path, text, match):
        path = tmp_path / "a.csv"
        path.write_text(text)

        with pytest.raises(PaprleError, match=match):
            make_leader(path)

    def test_missing_file(self, tmp_path):
        with pytest.raises(
            ConfigError, match=r"leader\.path: expected a file.*none\.csv"
        ):
            make_leader(tmp_path / "none.csv")

    @pytest.mark.parametrize("settings", [{}, {"path": "a", "paths": {"l": "b"}}])
    def test_path_or_paths(self, settings):
        with pytest.raises(ConfigError, match=r"leader\.path"):
            make_leader(**settings)

    @pytest.mark.parametrize("content", [b"", b"PK\x03\x04 no", b"\x93NUMPY"])
    def test_broken_npz(self, tmp_path, content):
        path = tmp_path / "a.npz"
        path.write_bytes(content)

        with pytest.raises(DeviceError, match="readable NPZ"):
            make_leader(path)

    def test_poses_and_joints_do_not_mix(self, tmp_path):
        left = write_csv(tmp_path / "l.csv", POSE, make_pose_rows(T_GOOD))
        right = write_csv(tmp_path / "r.csv", "t,j1,j2", make_joint_rows(T_GOOD))

        with pytest.raises(ConfigError, match="poses for all limbs or joints for all"):
            make_leader(paths={"left": str(left), "right": str(right)})


class TestRecordings:
    def test_arbot_human(self):
        leader = make_leader(shared("arbot_rectangle_H1.csv"))

        t, samples = play(leader)

        note = "1303 rows, 89 duplicate stamps dropped"
        assert leader.notes[0] == f"arbot_rectangle_H1.csv: {note}"
        assert t[-1] == pytest.approx(43.2, abs=0.01)
        assert all(s.valid for s in samples)
        assert leader.info.is_absolute
        assert leader.info.look_ahead == pytest.approx(0.0347, abs=1e-3)

    def test_tum(self):
        leader = make_leader(shared("tum_fr1_xyz.txt"), speed=10.0)

        assert leader.notes[0] == "tum_fr1_xyz.txt: 3000 rows"
        assert leader.info.look_ahead == pytest.approx(0.001, abs=1e-4)

    def test_npz_of_another_project_by_its_own_names(self):
        names = tuple(f"joint{i}" for i in range(1, 8))
        leader = make_leader(
            shared("avp_franka_ep0.npz"),
            keys=KeySettings(q="qpos"),
            dt=0.002,
            joints=names,
        )

        assert leader.info.joint_names == {"hand": names}
        first = leader.latest().limbs["hand"].q
        assert first == pytest.approx([0, 0, 0, -1.57079, 0, 1.57079, 0.7853])
