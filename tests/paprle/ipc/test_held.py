"""Causes that keep limbs back cross the gate's status and a link as text."""

import numpy as np
import pytest

from paprle.ipc.held import HELD, pack_held, read_held

STATUS = np.dtype([("held", f"S{HELD}")])
LEFT = "'link3' of left_arm is kept clear of 'link5' of left_arm"


def pass_on(held):
    status = np.zeros((), STATUS)
    status["held"] = pack_held(held)
    return read_held(status)


@pytest.mark.parametrize(
    "held", [{}, {"left_arm": LEFT}, {"left_arm": LEFT, "gripper": "no stop: 1; 2"}]
)
def test_causes_are_read_as_they_were_written(held):
    expected = {name: cause.partition(";")[0] for name, cause in held.items()}

    assert pass_on(held) == expected


def test_causes_that_do_not_fit_are_left_out_whole():
    told = pass_on({f"arm{k}": LEFT for k in range(20)})

    assert 0 < len(told) < 20
    assert set(told.values()) == {LEFT}


def test_bytes_of_a_faulty_peer_give_no_causes():
    status = np.zeros((), STATUS)
    status["held"] = b"\xff;; :\xfe; x"

    assert all(isinstance(cause, str) for cause in read_held(status).values())
