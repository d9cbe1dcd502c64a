from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from leaders.offline.config import KeySettings, OfflineConfig
from leaders.offline.leader import Offline
from paprle.errors import ConfigError, DeviceError, PaprleError
from paprle.testing import AutomaticLeaderContract, ManualClock, make_feedback
from paprle.types import SessionState

MOTION = Path(__file__).resolve().parents[3] / "../shared/data/motion"
TURN = np.array([0.1, 0.2, 0.3, np.sqrt(1 - 0.14)])  # x y z w, no two alike


def shared(name):
    path = MOTION / name
    if not path.is_file():
        pytest.skip(f"{path} is absent")
    return str(path)


def write_csv(path, header, rows, end="\n"):
    lines = [header] + [",".join(repr(float(x)) for x in row) for row in rows]
    path.write_text("\n".join(lines) + end)
    return path


def make_joint_rows(t):
    t = np.asarray(t)
    return np.column_stack([t, np.sin(t), np.cos(t)])


def make_pose_rows(t):
    """A line at 0.1 m/s that turns at 0.5 rad/s about z, as t x y z qx qy qz qw."""
    t = np.asarray(t)
    half = 0.25 * t
    zero = np.zeros_like(t)
    return np.column_stack(
        [t, 0.1 * t, zero, zero, zero, zero, np.sin(half), np.cos(half)]
    )


POSE = "t,x,y,z,qx,qy,qz,qw"
T_GOOD = np.arange(100) * 0.02


def make_leader(path=None, clock=None, **settings):
    path = None if path is None else str(path)
    leader = Offline(OfflineConfig(path=path, **settings), clock or ManualClock())
    leader.open()
    return leader


def play(leader, dt=0.005, is_following=True):
    """Return times since engaging [s] and samples of one episode."""
    clock = leader.clock
    begin, samples = clock(), []
    is_engaged = True
    for _ in range(100_000):
        state = SessionState.ENGAGED if is_engaged else SessionState.CLUTCHED
        leader.apply(make_feedback(state))
        samples.append(leader.latest())
        if samples[-1].end:
            break
        if is_following:
            is_engaged = samples[-1].valid
        clock.advance(dt)
    return np.array([(s.stamp_ns - begin) * 1e-9 for s in samples]), samples


def positions(samples, limb="hand"):
    return np.array(
        [s.limbs[limb].T_leader_base_leader_eef.translation for s in samples]
    )


class TestJointContract(AutomaticLeaderContract):
    @pytest.fixture(autouse=True)
    def _path(self, tmp_path):
        self.path = write_csv(tmp_path / "a.csv", "t,j1,j2", make_joint_rows(T_GOOD))

    def make_leader(self, clock):
        return Offline(OfflineConfig(path=str(self.path), loop=2), clock)


class TestPoseContract(AutomaticLeaderContract):
    @pytest.fixture(autouse=True)
    def _path(self, tmp_path):
        rows = np.column_stack([make_pose_rows(T_GOOD), np.linspace(0, 1, 100)])
        self.path = write_csv(tmp_path / "a.csv", POSE + ",opening", rows)

    def make_leader(self, clock):
        return Offline(OfflineConfig(path=str(self.path)), clock)


class TestInterpolation:
    @pytest.mark.parametrize("speed", [0.5, 1.0, 5.0])
    def test_pose_is_exact_between_rows(self, tmp_path, speed):
        path = write_csv(tmp_path / "a.csv", POSE, make_pose_rows(T_GOOD))

        t, samples = play(make_leader(path, speed=speed), dt=0.0013)

        for time, sample in zip(t, samples, strict=True):
            s = min(time * speed, T_GOOD[-1])
            T = sample.limbs["hand"].T_leader_base_leader_eef
            assert T.translation == pytest.approx([0.1 * s, 0, 0], abs=1e-9)
            turn = pin.log3(T.rotation)
            assert turn == pytest.approx([0, 0, 0.5 * s], abs=1e-9)

    def test_joints_are_exact_between_rows(self, tmp_path):
        rows = make_joint_rows(T_GOOD)
        path = write_csv(tmp_path / "a.csv", "t,j1,j2", rows)

        t, samples = play(make_leader(path), dt=0.0013)

        t = np.minimum(t, T_GOOD[-1])
        for i in range(2):
            expected = np.interp(t, rows[:, 0], rows[:, 1 + i])
            got = [s.limbs["hand"].q[i] for s in samples]
            assert got == pytest.approx(expected, abs=1e-9)

    def test_slerp_takes_the_shorter_arc_whatever_the_signs(self, tmp_path):
        rows = make_pose_rows(T_GOOD)
        flipped = rows.copy()
        flipped[::3, 4:] *= -1
        a = write_csv(tmp_path / "a.csv", POSE, rows)
        b = write_csv(tmp_path / "b.csv", POSE, flipped)

        _, plain = play(make_leader(a))
        _, signed = play(make_leader(b))

        for x, y in zip(plain, signed, strict=True):
            Tx, Ty = (s.limbs["hand"].T_leader_base_leader_eef for s in (x, y))
            assert np.abs(Tx.rotation - Ty.rotation).max() < 1e-12

    def test_quaternion_order_is_xyzw(self, tmp_path):
        rows = [[t, 0, 0, 0, *TURN] for t in T_GOOD]
        path = write_csv(tmp_path / "a.csv", POSE, rows)

        T = make_leader(path).latest().limbs["hand"].T_leader_base_leader_eef

        x, y, z, w = TURN
        expected = pin.Quaternion(w, x, y, z).toRotationMatrix()
        assert np.abs(T.rotation - expected).max() < 1e-12

    @pytest.mark.parametrize("rate", [25, 50, 100])
    def test_path_is_the_same_at_any_rate(self, tmp_path, rate):
        path = write_csv(tmp_path / "a.csv", POSE, make_pose_rows(T_GOOD))

        fast = positions(play(make_leader(path), dt=1 / 200)[1])
        slow = positions(play(make_leader(path), dt=1 / rate)[1])

        n = len(slow) - 1
        assert np.array_equal(fast[:: 200 // rate][:n], slow[:n])

    def test_look_ahead_is_the_period_over_the_speed(self, tmp_path):
        path = write_csv(tmp_path / "a.csv", POSE, make_pose_rows(T_GOOD))

        assert make_leader(path, speed=4).info.look_ahead == pytest.approx(0.005)

    def test_epoch_stamps_lose_no_more_than_the_file_has(self, tmp_path):
        rows = make_pose_rows(T_GOOD)
        rows[:, 0] += 1.7e9
        path = write_csv(tmp_path / "a.csv", POSE, rows)

        t, samples = play(make_leader(path))

        expected = 0.1 * np.minimum(t, T_GOOD[-1])
        assert positions(samples)[:, 0] == pytest.approx(expected, abs=1e-7)


class TestGaps:
    @pytest.fixture
    def gap(self, tmp_path):
        """Motion with one second missing after t = 0.48 s."""
        rows = make_pose_rows(T_GOOD)
        rows[25:, 0] += 1.0
        return write_csv(tmp_path / "a.csv", POSE, rows)

    def test_gap_ends_validity_from_its_last_row_to_its_first(self, gap):
        t, samples = play(make_leader(gap), is_following=False)

        lost = t[[not s.valid for s in samples]]
        assert lost.min() == pytest.approx(0.485)
        assert lost.max() == pytest.approx(1.495)

    def test_gap_is_counted(self, gap):
        assert make_leader(gap).notes == ("a.csv: 100 rows, 1 gaps above 0.25 s",)

    def test_short_gap_is_bridged(self, gap):
        _, samples = play(make_leader(gap, max_gap=1.1))

        assert all(s.valid for s in samples)

    def test_gap_is_measured_in_the_time_of_the_file(self, tmp_path):
        rows = make_pose_rows(np.arange(20) * 0.2)
        path = write_csv(tmp_path / "a.csv", POSE, rows)

        _, slow = play(make_leader(path, speed=0.25))

        assert all(s.valid for s in slow)

    def test_waits_after_a_gap_until_the_session_follows_again(self, gap):
        leader = make_leader(gap)
        while True:
            leader.apply(make_feedback(SessionState.ENGAGED))
            leader.clock.advance(0.005)
            if not leader.latest().valid:
                break
        leader.apply(make_feedback(SessionState.CLUTCHED))
        leader.clock.advance(5.0)
        waiting = leader.latest()
        leader.clock.advance(5.0)
        still = leader.latest()
        leader.apply(make_feedback(SessionState.ENGAGED))
        leader.clock.advance(0.02)
        going = leader.latest()

        assert waiting.valid
        assert positions([waiting, still])[:, 0] == pytest.approx(0.05, abs=1e-9)
        assert positions([going])[0, 0] == pytest.approx(0.052, abs=1e-9)

    @pytest.mark.parametrize("speed", [1, 100])
    def test_every_loss_lasts_long_enough_to_be_noticed(self, gap, speed):
        t, samples = play(make_leader(gap, speed=speed), is_following=False)

        lost = [not s.valid for s in samples]
        assert np.ptp(t[lost]) > 0.1

    def test_jump_ends_validity_and_is_counted(self, tmp_path):
        rows = make_pose_rows(T_GOOD)
        rows[50:, 2] += 0.5
        path = write_csv(tmp_path / "a.csv", POSE, rows)

        leader = make_leader(path)
        _, samples = play(leader)

        y = positions([s for s in samples if s.valid])[:, 1]
        assert set(np.round(y, 12)) == {0.0, 0.5}
        assert any(not s.valid for s in samples)
        assert leader.notes == ("a.csv: 100 rows, 1 jumps above 3 m/s",)

    def test_single_outlier_is_dropped(self, tmp_path):
        rows = make_pose_rows(T_GOOD)
        rows[50, 2] += 0.5
        path = write_csv(tmp_path / "a.csv", POSE, rows)

        leader = make_leader(path)
        _, samples = play(leader)

        assert all(s.valid for s in samples)
        assert not positions(samples)[:, 1].any()
        assert "1 rows far from all others dropped" in leader.notes[0]

    def test_absurdly_long_gap_is_shortened(self, tmp_path):
        rows = make_pose_rows(T_GOOD)
        rows[50:, 0] += 1e6
        path = write_csv(tmp_path / "a.csv", POSE, rows)

        t, _ = play(make_leader(path), is_following=False)

        assert t[-1] < 13


def corrupt(rows, kind):
    rows = rows.copy()
    i = 50
    if kind == "duplicate":
        rows[i] = rows[i - 1]
        rows[i, 1] += 1e-3
    elif kind == "backwards":
        rows[i, 0] = rows[10, 0] + 1e-3
    elif kind == "wild stamp":
        rows[i, 0] += 1e5
    elif kind == "nan":
        rows[i, 1] = np.nan
    elif kind == "inf":
        rows[i, 0] = np.inf
    elif kind == "absurd":
        rows[i, 1] = 1e300
    elif kind == "zero quaternion":
        rows[i, 4:] = 0
    elif kind == "far quaternion":
        rows[i, 4:] *= 1.2
    elif kind == "near quaternion":
        rows[i, 4:] *= 1.05
    return rows


class TestBadRows:
    @pytest.mark.parametrize(
        ("kind", "note"),
        [
            ("duplicate", "1 duplicate stamps dropped"),
            ("backwards", "1 rows with stamps out of order dropped"),
            ("wild stamp", "1 rows with stamps out of order dropped"),
            ("nan", "1 rows with NaN or absurd numbers dropped"),
            ("inf", "1 rows with NaN or absurd numbers dropped"),
            ("absurd", "1 rows with NaN or absurd numbers dropped"),
            ("zero quaternion", "1 rows whose quaternion is far from unit dropped"),
            ("far quaternion", "1 rows whose quaternion is far from unit dropped"),
            ("near quaternion", "1 quaternions normalised"),
        ],
    )
    def test_bad_row_is_treated_counted_and_not_felt(self, tmp_path, kind, note):
        good = make_pose_rows(T_GOOD)
        path = write_csv(tmp_path / "a.csv", POSE, corrupt(good, kind))

        leader = make_leader(path)
        t, samples = play(leader)

        assert leader.notes == (f"a.csv: 100 rows, {note}",)
        assert all(s.valid for s in samples)
        expected = 0.1 * np.minimum(t, T_GOOD[-1])
        assert positions(samples)[:, 0] == pytest.approx(expected, abs=1e-9)

    def test_garbage_lines_cost_themselves_only(self, tmp_path):
        path = write_csv(tmp_path / "a.csv", POSE, make_pose_rows(T_GOOD))
        lines = path.read_text().splitlines()
        lines[10:10] = ['"', "a,b,c", "\x00\x00", ",,,,,,,", "1,2,3,4,5,6,7,8,9"]
        path.write_text("\n".join(lines) + "\n")

        leader = make_leader(path)
        t, samples = play(leader)

        assert "5 lines that are not numbers dropped" in leader.notes[0]
        expected = 0.1 * np.minimum(t, T_GOOD[-1])
        assert positions(samples)[:, 0] == pytest.approx(expected, abs=1e-9)

    @pytest.mark.parametrize("end", ["", "\n"], ids=["cut", "ended"])
    def test_last_line_with_too_few_numbers_is_dropped(self, tmp_path, end):
        path = write_csv(tmp_path / "a.csv", POSE, make_pose_rows(T_GOOD))
        path.write_text(path.read_text()[:-60] + end)

        leader = make_leader(path)
        _, samples = play(leader)

        assert leader.notes[0].startswith("a.csv: 100 rows, 1 ")
        assert positions(samples)[-1, 0] == pytest.approx(0.1 * T_GOOD[-2])

    @pytest.mark.parametrize("last", ["1.5,0", "1.5,-", "1.5", "1."])
    def test_number_cut_in_its_middle_is_not_believed(self, tmp_path, last):
        rows = [f"{t:.2f},{np.sin(t):.5f}" for t in np.arange(1, 1.5, 0.02)]
        path = tmp_path / "a.csv"
        path.write_text("\n".join(["t,j1", *rows, last]))

        leader = make_leader(path)

        assert "1 truncated last lines dropped" in leader.notes[0]

    def test_whole_last_line_without_line_end_is_kept(self, tmp_path):
        rows = make_joint_rows(T_GOOD)
        path = write_csv(tmp_path / "a.csv", "t,j1,j2", rows, end="")

        assert make_leader(path).notes == ("a.csv: 100 rows",)

    def test_opening_is_clipped(self, tmp_path):
        rows = np.column_stack([make_joint_rows(T_GOOD), np.linspace(-0.5, 1, 100)])
        path = write_csv(tmp_path / "a.csv", "t,j1,j2,gripper", rows)

        leader = make_leader(path)

        assert leader.info.has_gripper
        assert leader.info.joint_names == {"hand": ("j1", "j2")}
        assert leader.latest().limbs["hand"].opening == 0
        assert "gripper openings clipped" in leader.notes[0]


class TestFormats:
    def test_windows_line_ends_quotes_and_byte_order_mark(self, tmp_path):
        path = tmp_path / "a.csv"
        rows = "".join(f"{t},{t / 2}\r\n" for t in T_GOOD)
        path.write_bytes(('\ufeff"time", "j1"\r\n' + rows).encode())

        leader = make_leader(path)

        assert leader.info.joint_names == {"hand": ("j1",)}
        assert leader.notes == ("a.csv: 100 rows",)

    def test_tum_is_relative_and_found_by_its_content(self, tmp_path):
        path = tmp_path / "a.txt"
        rows = "\n".join(" ".join(map(str, row)) for row in make_pose_rows(T_GOOD))
        path.write_text("# ground truth\n" + rows + "\n")

        leader = make_leader(path)

        assert leader.info.emits == "pose"
        assert not leader.info.is_absolute
        assert leader.notes == ("a.txt: 100 rows",)

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
        assert leader.notes == (f"arbot_rectangle_H1.csv: {note}",)
        assert t[-1] == pytest.approx(43.2, abs=0.01)
        assert all(s.valid for s in samples)
        assert leader.info.is_absolute
        assert leader.info.look_ahead == pytest.approx(0.0347, abs=1e-3)

    def test_tum(self):
        leader = make_leader(shared("tum_fr1_xyz.txt"), speed=10.0)

        assert leader.notes == ("tum_fr1_xyz.txt: 3000 rows",)
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


def test_repeats_as_often_as_told(tmp_path):
    path = write_csv(tmp_path / "a.csv", "t,j1,j2", make_joint_rows(T_GOOD))
    leader = make_leader(path, loop=3)
    exhausted = []
    for episode in range(3):
        leader.apply(make_feedback(SessionState.ENGAGED, episode=episode))
        leader.clock.advance(10)
        exhausted.append(leader.latest().is_exhausted)

    assert exhausted == [False, False, True]


def test_five_plays_are_the_same_to_the_last_bit(tmp_path):
    path = write_csv(tmp_path / "a.csv", POSE, make_pose_rows(T_GOOD))

    plays = [positions(play(make_leader(path))[1]) for _ in range(5)]

    assert all(np.array_equal(plays[0], other) for other in plays[1:])
