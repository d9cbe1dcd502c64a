"""The advisor: what it makes of a session's view."""

import numpy as np
import pytest
from retargeting import load_robot

from paprle.advisors.admc.advisor import Admc
from paprle.advisors.admc.config import AdmcConfig
from paprle.contracts.errors import ConfigError
from paprle.contracts.urdf.link_poses import LinkPoses
from paprle.testing import AdvisorContract, make_robot_info, make_session_view

PAPRAS = load_robot("papras_7dof").info
POINT = (-0.02, 0.0, 0.0)
BLOCK = np.array([0.3, 0.1, 0.015, 0.0, 0.0, 0.0, 1.0])
TARGET = np.array([0.25, -0.14, 0.0, 0.0, 0.0, 0.0, 1.0])
HERE = {"block": BLOCK, "target": TARGET}


def make_admc(clock, **settings):
    config = AdmcConfig(forward="x", point=POINT, **settings)
    return Admc(config, PAPRAS, {}, clock)


def place_grasp(q=None):
    links = LinkPoses(PAPRAS)
    links.update(PAPRAS.home if q is None else q)
    T = links.place(PAPRAS.limbs[0].eef_link)
    return T, T.act(np.array(POINT))


class TestAdmc(AdvisorContract):
    robot = PAPRAS

    def make_advisor(self, clock):
        return make_admc(clock)

    def ask(self, advisor, clock, **view):
        clock.advance(0.01)
        shown = make_session_view(PAPRAS, clock(), **({"objects": HERE} | view))
        return advisor.advise(shown, {})

    def test_goes_above_the_block_from_afar_and_to_it_when_near(self, advisor, clock):
        T, p = place_grasp()
        far = self.ask(advisor, clock)
        above = np.array([*p[:2], 0.0, 0, 0, 0, 1.0])
        near = self.ask(advisor, clock, objects=HERE | {"block": above})

        via = BLOCK[:3] + [0, 0, 0.01 + 0.1] - p
        lever = np.cross(0.5 * far["D"][3:6, 0], POINT)  # of a turn about the grasp
        grasp = T.rotation @ (0.1 * far["D"][:3, 0] + lever)
        np.testing.assert_allclose(
            grasp / np.linalg.norm(grasp), via / np.linalg.norm(via), atol=1e-9
        )
        down = T.rotation @ near["D"][:3, 2]
        np.testing.assert_allclose(down / np.linalg.norm(down), [0, 0, -1], atol=1e-9)

    def test_takes_the_block_then_brings_it_and_lets_it_go(self, advisor, clock):
        _, p = place_grasp()
        held = np.array([*p, 0, 0, 0, 1.0])
        gripper = PAPRAS.limbs[0].gripper
        squeezed, stalled = PAPRAS.home.copy(), PAPRAS.home.copy()
        squeezed[-1], stalled[-1] = gripper.closed, 0.7 * gripper.closed
        there = held - [0, 0, 0.03, 0, 0, 0, 0]

        before = self.ask(advisor, clock, objects=HERE | {"block": held})
        fist = {"q": stalled, "q_cmd": squeezed}
        links = LinkPoses(PAPRAS)
        links.update(stalled)
        after = self.ask(advisor, clock, objects=HERE | {"block": held}, **fist)
        arrived = self.ask(
            advisor, clock, objects={"block": held, "target": there}, **fist
        )

        assert before["D"][6, 0] < 0.0
        assert not before["is_held"]
        assert after["is_held"]
        np.testing.assert_allclose(after["goal"], TARGET[:3] + [0, 0, 0.03])
        assert after["D"][6, 0] == 0.0
        assert arrived["D"][6, 0] > 0.0

    @pytest.mark.parametrize("name", ["block", "q"])
    def test_takes_back_what_rests_on_nothing(self, advisor, clock, name):
        unknown = {"objects": {"target": TARGET}}
        if name == "q":
            unknown = {"q": np.full(len(PAPRAS.home), np.nan)}

        assert self.ask(advisor, clock)["valid"]
        assert not self.ask(advisor, clock, **unknown)["valid"]

    def test_tells_once_that_another_motion_is_better(self, clock):
        advisor = make_admc(clock, communication="threshold")
        advisor.open()
        best = self.ask(advisor, clock)["D"][:, :1]
        same = [self.ask(advisor, clock, mappings={"arm": best}) for _ in range(30)]
        other = [self.ask(advisor, clock, mappings={"arm": -best}) for _ in range(30)]
        advisor.close()

        assert not any(one["is_shown"] for one in same)
        assert same[-1]["difference"] == pytest.approx(0.0, abs=1e-6)
        assert other[-1]["is_shown"]
        assert other[-1]["difference"] == pytest.approx(1.0)
        assert other[-1]["n_crossings"] == 1

    def test_advice_is_based_on_the_measured_time(self, advisor, clock):
        record = self.ask(advisor, clock, measured_ns=clock() - 3_000_000)

        assert record["stamp_ns"] - record["based_on_ns"] <= 20_000_000


def test_a_robot_without_gripper_is_refused():
    with pytest.raises(ConfigError, match="expected a limb with a gripper"):
        Admc(AdmcConfig(), make_robot_info(), {}, int)
