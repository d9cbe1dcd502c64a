"""A limb that stands although it is asked to move is named after half a second."""

import numpy as np
import pinocchio as pin
import pytest
from lock_step import PIPER

from paprle.hosts.operator.standing import StandingDetector
from paprle.ipc.held import pack_held

LOOK = 40  # [ticks] a fifth of a second


class Looked:
    """A session whose standing limbs are looked for."""

    def __init__(self, session):
        self.session, self.standing = session, StandingDetector(PIPER)

    def go(self, n, speed=(0.0, 0.0, 0.0), causes=None):
        for k in range(n):
            T = self.session.T_hand
            step = 0.005 * np.array(speed)
            self.session.T_hand = pin.SE3(T.rotation, T.translation + step)
            self.session.step()
            if k % LOOK == 0:
                self.standing.update(self.session.core, causes or {})
        return [str(one) for one in self.standing.newest]


@pytest.fixture
def looked(lock_step):
    return Looked(lock_step().engage())


def test_a_hand_that_rests_asks_for_nothing(looked):
    assert looked.go(400) == []
    assert not looked.standing.is_still


def test_an_arm_that_follows_does_not_stand(looked):
    assert looked.go(200, (0.0, 0.1, 0.0)) == []


@pytest.mark.long
def test_an_arm_at_the_end_of_its_reach_is_told_until_the_hand_comes_back(looked):
    looked.go(400, (0.5, 0.0, 0.0))
    told = looked.go(600, causes={"arm": "out of reach"})

    assert told == ["arm stands: out of reach"]
    assert looked.standing.is_still
    assert "out of reach" in looked.standing.summarise()

    looked.go(400, (-0.5, 0.0, 0.0))

    assert looked.go(200) == []


@pytest.mark.long
def test_the_cause_that_the_gate_names_is_told_before_any_other(looked):
    looked.go(400, (0.5, 0.0, 0.0))
    looked.go(400)
    cause = "'link3' of arm is kept clear of 'link5' of arm"
    looked.session.core.motion.status["held"] = pack_held({"arm": cause})
    looked.standing.update(looked.session.core, {"arm": "out of reach"})

    (told,) = looked.standing.newest
    assert str(told) == f"arm stands: {cause}"
