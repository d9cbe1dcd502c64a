"""States of a robot as they arrive: what is motion, and what is a jump."""

import numpy as np
import pytest
from cells import spread

from paprle.hardware.ros.joints import Joints, encode_joints
from paprle.hardware.ros.messages import Codec
from paprle.hardware.ros.states import JointStates
from paprle.hardware.ros.turns import Turns

EPOCH = 1_700_000_000_000_000_000
MS = 1_000_000
PI = np.pi


def make_states(codec, *, q_max=np.inf, can_turn=True):
    limits = np.full((2, 1), q_max) * [[-1.0], [1.0]]
    turns = Turns(np.array([can_turn]), *limits)
    return JointStates(codec, ("j",), np.ones(1), np.ones(1), turns)


@pytest.fixture
def take():
    """Take a position that was measured and arrived so many ms after the first."""
    codec = Codec("jazzy")
    states = make_states(codec)

    def take(q, measured, arrived):
        stamp = 0 if measured is None else EPOCH + int(measured * MS)
        message = Joints(("j",), *np.array([[q], [0.0], [0.0]]), stamp_ns=stamp)
        states.take(encode_joints(codec, message), int(arrived * MS) + MS)
        return states.jump

    take(0.0, 0.0, 0.0)
    return take


def test_states_queued_over_a_stall_are_no_jump(take):
    assert not take(0.1, 100, 600), "the first of what waited"
    assert not take(0.6, 600, 601), "what came between did not fit"
    assert "j jumped by 0.4" in take(0.2, 602, 603)


@pytest.mark.parametrize("measured", [None, 1.0, -500.0, 5000.0])
def test_a_step_is_a_jump_whatever_the_clock_of_its_sender(take, measured):
    assert take(0.6, measured, 1.0)


@pytest.fixture
def listen():
    """Take a state that was sent and arrived so many ms after the first; its age."""
    codec = Codec("jazzy")
    states = make_states(codec)

    def listen(arrived, *, source=None, waited=0.0, header=0):
        message = Joints(("j",), *np.zeros((3, 1)), stamp_ns=header)
        now_ns = int(arrived * MS) + MS
        states.take(
            encode_joints(codec, message),
            now_ns,
            source_ns=0 if source is None else EPOCH + int(source * MS),
            waited_ns=int(waited * MS),
        )
        return (now_ns - int(states.stamps_ns[0])) / MS

    listen(0.0, source=0.0)
    return listen


def test_a_state_without_a_stamp_is_as_old_as_its_middleware_says(listen):
    assert listen(5, source=5) == 0.0
    assert listen(100, source=80) == pytest.approx(20, abs=0.1)
    assert listen(105, waited=30) == pytest.approx(30, abs=0.1)


def test_a_header_that_is_stamped_anew_makes_no_old_state_fresh(listen):
    assert listen(100, source=50, header=EPOCH + 100 * MS) == pytest.approx(50, abs=0.1)
    assert listen(110, source=60, header=EPOCH + 110 * MS) == pytest.approx(50, abs=0.1)


def wrap(q, low):
    return (q - low) % (2 * PI) + low


def play(states, motion, told=np.nan, period=10):
    """Take positions and velocities as a driver publishes them; what is known then."""
    codec, found = Codec("jazzy"), []
    for k, (q, dq) in enumerate(np.broadcast(motion, told)):
        message = Joints(("j",), *np.array([[q], [dq], [0.0]]), EPOCH + k * period * MS)
        states.take(encode_joints(codec, message), (k * period + 1) * MS)
        assert not states.jump, k
        found.append((states.q[0], states.dq[0]))
    return np.array(found).T


@pytest.mark.parametrize("low", spread([-PI, 0.0], -PI))
@pytest.mark.parametrize("direction", [1, -1])
def test_whole_turns_of_a_driver_that_wraps_are_counted(low, direction):
    motion = direction * np.arange(0.0, 20.0, 0.008) + low + 3.0

    q, dq = play(make_states(Codec("jazzy")), wrap(motion, low))

    np.testing.assert_allclose(q, motion, atol=1e-9)
    np.testing.assert_allclose(dq[1:], 0.8 * direction, atol=1e-6)


def test_a_velocity_that_a_driver_derives_from_its_wrapped_positions_is_not_used():
    read = wrap(np.arange(2.9, 3.4, 0.008), -PI)
    told = np.concatenate([[0.8], np.diff(read) / 0.01])
    assert told.min() < -600.0

    _, dq = play(make_states(Codec("jazzy")), read, told)

    np.testing.assert_allclose(dq, 0.8, atol=1e-6)


@pytest.mark.parametrize(
    ("path", "settings"),
    [
        ([3.1, -3.1], {"can_turn": False}),
        ([3.1, -3.1], {"q_max": 2.0}),
        ([5.0, 5.0 - 2 * PI], {}),
        ([9.0, 9.0 - 2 * PI], {}),
        ([2.0, -2.0], {}),
        ([0.0, 2 * PI * 40], {}),
    ],
    ids=["slides", "beyond limits", "no end", "beyond a turn", "too far", "turns"],
)
def test_a_step_that_no_crossing_explains_stays_a_jump(path, settings):
    codec, states = Codec("jazzy"), make_states(Codec("jazzy"), **settings)
    for k, q in enumerate(path):
        message = Joints(("j",), *np.array([[q], [0.0], [0.0]]), EPOCH + k * MS)
        states.take(encode_joints(codec, message), (k + 1) * MS)

    assert "j jumped by" in states.jump


@pytest.mark.parametrize("q", [np.nan, np.inf, -np.inf, 1e300])
def test_readings_that_are_no_angles_change_no_count(q):
    codec, states = Codec("jazzy"), make_states(Codec("jazzy"))
    for k, read in enumerate([3.13, q, -3.13]):
        message = Joints(("j",), *np.array([[read], [0.0], [0.0]]), EPOCH + k * MS)
        states.take(encode_joints(codec, message), (k + 1) * MS)

    assert states.turns.n[0] in {0, 1}
    assert np.isfinite(states.q[0])
