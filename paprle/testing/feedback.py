"""Contract tests of feedback laws."""
# ruff: noqa: D102, S101 - tests: the name is the sentence

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from paprle.contracts.plugins import FeedbackInput, FeedbackLaw
from paprle.contracts.types import Vec, readonly


def make_feedback_input(n_arm: int = 6, seed: int = 0) -> FeedbackInput:
    """Return fully measured inputs."""
    rng = np.random.default_rng(seed)
    m = n_arm + 1

    def draw(*shape: int) -> Vec:
        return readonly(rng.uniform(-1.0, 1.0, shape))

    gradient = draw(m, m)
    return FeedbackInput(
        q=draw(m),
        dq=draw(m),
        n_arm=n_arm,
        q_gate=draw(m),
        q_follower=draw(m),
        q_model=draw(m),
        tau_follower=draw(m),
        gain_squared=readonly(np.ones(m)),
        dx_gate=draw(6),
        dx_follower=draw(6),
        dx_model=draw(6),
        scale=2.0,
        J=draw(6, n_arm),
        gravity=draw(m),
        gravity_gradient=readonly(gradient + gradient.T),
        damping=readonly(np.full(m, 0.05)),
        viscous=readonly(np.full(m, 0.05)),
        coulomb=readonly(np.full(m, 0.02)),
        q_base=readonly(np.zeros(m)),
        q_min=readonly(np.full(m, -0.9)),
        q_max=readonly(np.full(m, 0.9)),
        clearance=0.01,
        is_near=False,
        is_free=np.ones(m, dtype=np.bool_),
        held=draw(m),
        held_by_gate=readonly(np.ones(m)),
        held_limb=0.5,
        drives=readonly(np.full(m, 600.0)),
        dt=0.0025,
    )


class FeedbackLawContract(ABC):
    """Tests of any law; fill ``make_law``."""

    n_arm = 6
    """Arm joints of the leader in ``make_inputs``; a gripper follows them."""

    @abstractmethod
    def make_law(self) -> FeedbackLaw[Any]:
        """Return the law under test."""

    def make_inputs(self, seed: int = 0) -> FeedbackInput:
        """Return ordinary inputs by seed."""
        return make_feedback_input(self.n_arm, seed)

    @pytest.fixture
    def law(self) -> FeedbackLaw[Any]:
        """Return the law under test."""
        return self.make_law()

    @pytest.mark.parametrize("seed", range(5))
    def test_torques_are_finite_and_one_a_leader_joint(
        self, law: FeedbackLaw[Any], seed: int
    ) -> None:
        inputs = self.make_inputs(seed)

        tau, _ = law.compute(inputs, law.initial())

        assert tau.shape == inputs.q.shape
        assert np.isfinite(tau).all()

    def test_the_same_inputs_give_the_same_torques(self, law: FeedbackLaw[Any]) -> None:
        inputs, state = self.make_inputs(), law.initial()
        law_2 = self.make_law()

        tau_1, _ = law.compute(inputs, copy.deepcopy(state))
        for seed in range(3):
            law.compute(self.make_inputs(seed), law.initial())
        tau_2, _ = law.compute(inputs, copy.deepcopy(state))
        tau_3, _ = law_2.compute(inputs, copy.deepcopy(state))

        assert np.array_equal(tau_1, tau_2)
        assert np.array_equal(tau_1, tau_3)

    def test_never_changes_the_state_it_is_given(self, law: FeedbackLaw[Any]) -> None:
        inputs = self.make_inputs()
        _, state = law.compute(inputs, law.initial())
        kept = copy.deepcopy(state)
        tau_1, _ = law.compute(inputs, state)
        tau_2, _ = law.compute(inputs, kept)

        assert np.array_equal(tau_1, tau_2)

    def test_stays_finite_over_time(self, law: FeedbackLaw[Any]) -> None:
        inputs, state = self.make_inputs(), law.initial()
        for _ in range(500):
            tau, state = law.compute(inputs, state)

        assert np.isfinite(tau).all()

    def test_copes_with_what_is_not_measured(self, law: FeedbackLaw[Any]) -> None:
        inputs = self.make_inputs()
        none, no_pose = np.full(self.n_arm + 1, np.nan), np.full(6, np.nan)
        bare = replace(
            inputs,
            q_gate=none,
            q_follower=none,
            q_model=none,
            tau_follower=none,
            dx_gate=no_pose,
            dx_follower=no_pose,
            dx_model=no_pose,
            J=None,
            gravity_gradient=None,
            viscous=none,
            coulomb=none,
            q_base=none,
            q_min=np.full(self.n_arm + 1, -np.inf),
            q_max=np.full(self.n_arm + 1, np.inf),
            clearance=float("inf"),
        )

        tau, state = law.compute(bare, law.initial())
        again, _ = law.compute(inputs, state)

        assert np.isfinite(tau).all()
        assert np.isfinite(again).all()
        assert all(np.isfinite(K).all() for K in law.stiffness(bare))
        assert np.isfinite(law.damping(bare)).all()

    @pytest.mark.parametrize("seed", range(5))
    def test_falls_with_position_no_steeper_than_it_declares(
        self, law: FeedbackLaw[Any], seed: int
    ) -> None:
        inputs = self.make_inputs(seed)
        _, state = law.compute(inputs, law.initial())
        local, delayed = law.stiffness(inputs)
        declared = local + delayed
        symmetric = (declared + declared.T) / 2.0
        rng = np.random.default_rng(seed)
        for _ in range(20):
            d = rng.normal(size=inputs.q.size) * 1e-6
            n = inputs.n_arm
            dx = np.zeros(6) if inputs.J is None else inputs.J @ d[:n]
            dx = dx * np.array([inputs.scale] * 3 + [1.0] * 3)
            moved = replace(
                inputs,
                q=inputs.q + d,
                dx_gate=inputs.dx_gate - dx,
                gravity=inputs.gravity + self._gradient(inputs) @ d,
            )
            tau_1, _ = law.compute(inputs, state)
            tau_2, _ = law.compute(moved, state)

            assert -d @ (tau_2 - tau_1) <= d @ symmetric @ d + 1e-9 * d @ d

    def _gradient(self, inputs: FeedbackInput) -> Vec:
        if inputs.gravity_gradient is None:
            return np.zeros((inputs.q.size, inputs.q.size))
        return inputs.gravity_gradient
