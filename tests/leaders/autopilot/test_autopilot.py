import numpy as np
import pytest

from paprle.contracts.types import SessionState
from paprle.leaders.autopilot.config import AutopilotConfig
from paprle.leaders.autopilot.leader import Autopilot
from paprle.testing import AutomaticLeaderContract, ManualClock, make_feedback

SHAPES = ["circle", "square", "rectangle", "triangle", "s"]
CLOSED = SHAPES[:-1]


def play(rate=200.0, **settings):
    """Return times [s], positions (n, 3) and samples of one episode."""
    clock = ManualClock()
    leader = Autopilot(AutopilotConfig(**settings), clock)
    leader.open()
    leader.apply(make_feedback(SessionState.ENGAGED, stamp_ns=clock()))
    begin, samples = clock(), [leader.latest()]
    while not samples[-1].end:
        clock.advance(1 / rate)
        samples.append(leader.latest())
    t = np.array([(s.stamp_ns - begin) * 1e-9 for s in samples])
    p = np.array(
        [s.limbs["hand"].T_leader_base_leader_eef.translation for s in samples]
    )
    return t, p, samples


class TestContract(AutomaticLeaderContract):
    def make_leader(self, clock):
        return Autopilot(AutopilotConfig(size=0.02, episodes=2), clock)


class TestContractExhausted(AutomaticLeaderContract):
    def make_leader(self, clock):
        return Autopilot(AutopilotConfig(size=0.02, shape="s", gripper=True), clock)


@pytest.mark.parametrize("shape", SHAPES)
def test_speed_is_constant_except_at_corners_and_ramps(shape):
    t, p, _ = play(shape=shape, speed=0.05)

    v = np.linalg.norm(np.diff(p, axis=0), axis=1) / np.diff(t)
    inside = (t[:-1] > 0.3) & (t[1:] < t[-1] - 0.31)
    directions = (
        np.diff(p, axis=0) / np.linalg.norm(np.diff(p, axis=0), axis=1)[:, None]
    )
    turns = np.einsum("ij,ij->i", directions[1:], directions[:-1])
    straight = np.concatenate([[True], turns > 0.99]) & np.append(turns > 0.99, True)
    v = v[inside & straight]
    assert len(v) > 100
    assert v.std() / v.mean() < 0.01
    assert v.mean() == pytest.approx(0.05, rel=1e-3)


@pytest.mark.parametrize("shape", CLOSED)
@pytest.mark.parametrize("laps", [1, 3])
def test_closed_shapes_close(shape, laps):
    _, p, _ = play(shape=shape, laps=laps, speed=0.2)

    assert np.abs(p[-1] - p[0]).max() < 1e-9


def test_s_goes_there_and_back():
    _, there, _ = play(shape="s", laps=1, speed=0.2)
    _, back, _ = play(shape="s", laps=2, speed=0.2)

    assert there[-1] == pytest.approx([0, -0.05, 0.1], abs=1e-9)
    assert np.abs(back[-1]).max() < 1e-9


@pytest.mark.parametrize(
    ("shape", "length"),
    [
        ("circle", np.pi * 0.2),
        ("square", 0.8),
        ("rectangle", 0.6),
        ("triangle", 0.6),
    ],
)
def test_length_over_speed_is_the_duration(shape, length):
    t, _, _ = play(shape=shape, size=0.2, speed=0.1)

    assert t[-1] == pytest.approx(length / 0.1 + 0.3, abs=0.006)


@pytest.mark.parametrize(
    ("plane", "normal"), [("xy", 2), ("xz", 1), ("yz", 0)], ids=str
)
def test_lies_in_its_plane_with_its_size(plane, normal):
    _, p, _ = play(plane=plane, size=0.2, speed=0.2)

    assert not p[:, normal].any()
    extent = np.ptp(p, axis=0)
    assert np.delete(extent, normal) == pytest.approx([0.2, 0.2], rel=1e-3)


def test_starts_at_the_identity_at_rest_and_stops_at_rest():
    _, p, samples = play(speed=0.2)

    T = samples[0].limbs["hand"].T_leader_base_leader_eef
    assert np.array_equal(T.homogeneous, np.eye(4))
    assert np.linalg.norm(p[1] - p[0]) < 1e-4 * 0.2
    assert np.linalg.norm(p[-1] - p[-2]) < 1e-3 * 0.2


def test_path_is_the_same_at_any_rate():
    t_fast, fast, _ = play(rate=200, shape="triangle")
    t_slow, slow, _ = play(rate=25, shape="triangle")

    n = len(slow) - 1
    assert np.array_equal(fast[: 8 * n : 8], slow[:n])


def test_short_walk_is_walked_slower_not_cut():
    t, p, _ = play(shape="s", size=0.01, speed=1.0, laps=2)

    v = np.linalg.norm(np.diff(p, axis=0), axis=1) / np.diff(t)
    assert v.max() < 1.0
    assert np.abs(p[-1]).max() < 1e-9


def test_no_ramp_is_constant_speed_from_the_first_sample():
    t, p, _ = play(ramp=0.0, speed=0.1)

    assert np.linalg.norm(p[1]) == pytest.approx(0.1 * 0.005, rel=1e-4)


def test_gripper_opens_and_closes_once_a_lap():
    _, _, samples = play(gripper=True, laps=2, speed=0.2)

    opening = np.array([s.limbs["hand"].opening for s in samples])
    assert opening[0] == 0
    assert opening[-1] == pytest.approx(0, abs=1e-9)
    crossings = (np.diff((opening > 0.5).astype(int)) != 0).sum()
    assert crossings == 4


def test_is_exhausted_after_its_episodes_only():
    clock = ManualClock()
    leader = Autopilot(AutopilotConfig(size=0.01, episodes=2), clock)
    leader.open()
    exhausted = []
    for episode in range(2):
        engaged = make_feedback(SessionState.ENGAGED, episode=episode)
        for _ in range(1000):
            leader.apply(engaged)
            clock.advance(0.005)
            if (sample := leader.latest()).end:
                break
        exhausted.append(sample.is_exhausted)

    assert exhausted == [False, True]
