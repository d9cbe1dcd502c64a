"""Rigid-body dynamics in numpy against Pinocchio, which reads the URDF itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from paprle_emulators.servo_rig.links import GRAVITY, Links
from paprle_emulators.servo_rig.pin_links import PinLinks

ROOT = Path(__file__).resolve().parents[3]
URDFS = sorted(ROOT.glob("urdf/puppeteer_*/robot.urdf"))
RPY = (0.4, -0.9, 2.0)


class Reference:
    """Pinocchio's model of a URDF, other joints locked at zero."""

    def __init__(self, urdf, names):
        whole = pin.buildModelFromUrdf(str(urdf))
        locked = [i for i in range(1, whole.njoints) if whole.names[i] not in names]
        self.model = pin.buildReducedModel(whole, locked, pin.neutral(whole))
        upright = pin.rpy.rpyToMatrix(*RPY)
        self.model.gravity.linear = upright.T @ np.array([0.0, 0.0, -GRAVITY])
        self.data = self.model.createData()
        ids = [self.model.getJointId(name) for name in names]
        self.places = np.array([self.model.idx_vs[i] for i in ids])

    def order(self, values):
        inside = np.zeros(len(values))
        inside[self.places] = values
        return inside

    def accelerate(self, q, dq, tau, added):
        self.model.armature = self.order(added)
        q, dq, tau = map(self.order, (q, dq, tau))
        return pin.aba(self.model, self.data, q, dq, tau)[self.places]

    def compute_gravity(self, q):
        g = pin.computeGeneralizedGravity(self.model, self.data, self.order(q))
        return g[self.places]

    def compute_mass(self, q):
        self.model.armature = np.zeros(len(q))
        M = pin.crba(self.model, self.data, self.order(q))
        M = np.triu(M) + np.triu(M, 1).T
        return M[np.ix_(self.places, self.places)]


def list_joints(urdf):
    return list(pin.buildModelFromUrdf(str(urdf)).names)[1:]


@pytest.fixture(params=["whole", "shuffled, one locked"])
def names_of(request):
    def choose(urdf):
        names = list_joints(urdf)
        if request.param == "whole":
            return names
        return list(np.random.default_rng(1).permutation(names))[:-1]

    return choose


@pytest.mark.parametrize("kind", [Links, PinLinks])
@pytest.mark.parametrize("urdf", URDFS, ids=lambda path: path.parent.name)
def test_links_move_as_pinocchio_says(urdf, kind, names_of):
    names = names_of(urdf)
    links, reference = kind(urdf, names, RPY), Reference(urdf, names)
    rng = np.random.default_rng(0)

    for _ in range(5):
        q, dq, tau = rng.normal(size=(3, len(names)))
        added = 1e-4 + 1e-3 * rng.random(len(names))
        expected = reference.accelerate(q, dq, tau, added)
        found = links.accelerate(q, dq, tau, added)

        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)
        gravity = reference.compute_gravity(q)
        assert links.compute_gravity(q) == pytest.approx(gravity, abs=1e-12)


@pytest.mark.parametrize("urdf", URDFS[:2], ids=lambda path: path.parent.name)
def test_the_mass_matrix_is_pinocchios(urdf):
    names = list_joints(urdf)
    q = np.random.default_rng(2).normal(size=len(names))

    M = Links(urdf, names, RPY).compute_mass(q)

    expected = Reference(urdf, names).compute_mass(q)
    assert pytest.approx(expected, rel=1e-9, abs=1e-15) == M


def test_sliding_joints_are_links_like_others():
    urdf = ROOT / "urdf/piper/robot.urdf"  # its fingers slide
    names = list_joints(urdf)
    q, dq, tau = np.random.default_rng(3).normal(size=(3, len(names)))
    added = np.full(len(names), 1e-3)

    found = Links(urdf, names, RPY).accelerate(q, dq, tau, added)

    expected = Reference(urdf, names).accelerate(q, dq, tau, added)
    assert found == pytest.approx(expected, rel=1e-9)
