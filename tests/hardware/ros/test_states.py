"""States of a robot as they arrive: what is motion, and what is a jump."""

import numpy as np
import pytest

from hardware.ros.joints import Joints, encode_joints
from hardware.ros.messages import Codec
from hardware.ros.states import JointStates

EPOCH = 1_700_000_000_000_000_000
MS = 1_000_000


@pytest.fixture
def take():
    """Take a position that was measured and arrived so many ms after the first."""
    codec = Codec("jazzy")
    states = JointStates(codec, ("j",), np.ones(1), np.ones(1))

    def take(q, measured, arrived):
        stamp = 0 if measured is None else EPOCH + int(measured * MS)
        message = Joints(("j",), *np.array([[q], [0.0], [0.0]]), stamp_ns=stamp)
        states.take(encode_joints(codec, message), int(arrived * MS) + MS)
        return states.jump

    take(0.0, 0.0, 0.0)
    return take


def test_what_waited_while_we_stood_still_is_no_jump(take):
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
    states = JointStates(codec, ("j",), np.ones(1), np.ones(1))

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
