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
