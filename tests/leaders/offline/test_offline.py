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

from paprle.contracts.types import SessionState
from paprle.leaders.offline.config import OfflineConfig
from paprle.leaders.offline.leader import Offline
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
            assert turn == pytest.approx([0, 0, 0.5 * s], abs=1e-6)

    def test_joints_go_on_smoothly_between_rows(self, tmp_path):
        rows = make_joint_rows(T_GOOD)
        path = write_csv(tmp_path / "a.csv", "t,j1,j2", rows)

        t, samples = play(make_leader(path), dt=0.0013)

        q = np.array([s.limbs["hand"].q for s in samples])
        is_on = t < T_GOOD[-1]
        truth = np.column_stack([np.sin(t), np.cos(t)])[is_on]
        assert np.abs(q[is_on] - truth).max() < 1e-6
        ddq = np.diff(q[is_on], 2, axis=0)[10:-10] / 0.0013**2
        assert np.abs(ddq).max() < 1.05, "as the motion's own, without corners"
        assert q[-1] == pytest.approx(rows[-1, 1:])

    def test_rows_far_apart_are_points_on_straight_ways(self, tmp_path):
        rows = [
            [0.0, 0, 0, 0, *TURN],
            [0.2, 0.1, 0, 0, *TURN],
            [0.4, 0.1, 0.1, 0, *TURN],
        ]
        path = write_csv(tmp_path / "a.csv", POSE, rows)

        t, samples = play(make_leader(path), dt=0.01)

        p = np.array(
            [s.limbs["hand"].T_leader_base_leader_eef.translation for s in samples]
        )
        assert p[:, 0] == pytest.approx(0.1 * np.clip(t / 0.2, 0, 1))
        assert p[:, 1] == pytest.approx(0.1 * np.clip(t / 0.2 - 1, 0, 1))

    def test_a_tracker_does_not_shake_what_it_drives(self, tmp_path):
        """A hand at 1 Hz with a millimetre of noise, 30 rows a second, not late."""
        rng, t_rows = np.random.default_rng(1), np.arange(150) / 30.0
        rows = make_pose_rows(t_rows)
        hand = 0.1 * np.sin(2 * np.pi * t_rows)
        rows[:, 2] = hand + 1e-3 * rng.standard_normal(len(t_rows))
        path = write_csv(tmp_path / "a.csv", POSE, rows)

        t, samples = play(make_leader(path), dt=0.002)

        y = [s.limbs["hand"].T_leader_base_leader_eef.translation[1] for s in samples]
        inside = (t > 0.5) & (t < 4.5)
        apart = np.array(y)[inside] - 0.1 * np.sin(2 * np.pi * t[inside])
        assert np.sqrt((apart**2).mean()) < 1e-3
        assert np.abs(np.diff(y, 2)[inside[1:-1]]).max() / 0.002**2 < 15.0

    @pytest.mark.parametrize(
        ("hz", "least", "most"), [(2, 0.99, 1.01), (10, 0.4, 0.6), (20, 0.0, 0.025)]
    )
    def test_a_tracker_keeps_what_a_hand_does_and_half_of_10_hz(
        self, tmp_path, hz, least, most
    ):
        t_rows = np.arange(400) / 100.0
        rows = make_pose_rows(t_rows)
        rows[:, 2] = 0.01 * np.sin(2 * np.pi * hz * t_rows)
        path = write_csv(tmp_path / "a.csv", POSE, rows)

        t, samples = play(make_leader(path), dt=0.002)

        y = [s.limbs["hand"].T_leader_base_leader_eef.translation[1] for s in samples]
        inside = (t > 1.0) & (t < 3.0)
        wave = np.exp(2j * np.pi * hz * t[inside])
        left = 2.0 * np.mean(np.array(y)[inside] * wave) / 0.01j
        assert least < left.real < most
        assert abs(left.imag) < 0.01, "nothing is late"

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


def test_the_path_that_will_be_played_is_known_beforehand(tmp_path):
    t = np.concatenate([T_GOOD, T_GOOD + 5.0])  # three seconds without data
    path = write_csv(tmp_path / "m.csv", POSE, make_pose_rows(t))
    leader = make_leader(path, frame="absolute", speed=2.0, allow_loss=True)

    known = leader.info.path["hand"]
    times, samples = play(leader)

    assert known.shape == (200, 8)
    assert (np.diff(known[:, 0]) > 0.0).all()
    followed = positions(samples)
    for row in known[::10]:
        k = int(np.abs(times - row[0]).argmin())
        assert np.linalg.norm(followed[k] - row[1:4]) < 5e-3


def test_a_file_of_joints_has_no_path(tmp_path):
    path = write_csv(tmp_path / "m.csv", "t,a,b", make_joint_rows(T_GOOD))

    assert make_leader(path, joints=("a", "b")).info.path == {}
