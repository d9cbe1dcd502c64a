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
    write_csv,
)

from leaders.offline.config import OfflineConfig
from leaders.offline.leader import Offline
from paprle.contracts.types import SessionState
from paprle.testing import AutomaticLeaderContract, make_feedback


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
