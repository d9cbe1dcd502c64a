"""The contract of a feedback law, as tests that its plug-in inherits."""
# ruff: noqa: D102, S101 - tests: the name is the sentence

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from paprle.interfaces import FeedbackInput, FeedbackLaw
from paprle.types import JointState, readonly


class FeedbackLawContract(ABC):
    """What holds for any law; fill ``make_law`` and, if needed, ``make_inputs``."""

    n_joints = 6
    """Joints of the leader and of the follower's limb in ``make_inputs``."""

    @abstractmethod
    def make_law(self) -> FeedbackLaw[Any]:
        """Return the law under test."""

    def make_inputs(self, seed: int = 0) -> FeedbackInput:
        """Return one set of ordinary inputs, the same for the same seed."""
        rng = np.random.default_rng(seed)
        names = tuple(f"joint{i}" for i in range(self.n_joints))
        states = [
            JointState(
                joint_names=names,
                q=readonly(rng.uniform(-1, 1, self.n_joints)),
                dq=readonly(rng.uniform(-1, 1, self.n_joints)),
                tau=readonly(rng.uniform(-1, 1, self.n_joints)),
            )
            for _ in range(2)
        ]
        return FeedbackInput(
            leader=states[0],
            follower=states[1],
            q_gate=readonly(states[1].q + 0.01),
            J_leader=readonly(rng.uniform(-1, 1, (6, self.n_joints))),
            clearance=0.1,
            dt=0.01,
        )

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

        assert tau.shape == inputs.leader.q.shape
        assert np.isfinite(tau).all()

    def test_the_same_inputs_give_the_same_torques(self, law: FeedbackLaw[Any]) -> None:
        """Its only memory is the state that it returns."""
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
        bare = replace(
            inputs,
            leader=replace(inputs.leader, dq=None, tau=None),
            follower=replace(inputs.follower, dq=None, tau=None),
            J_leader=None,
            clearance=float("inf"),
        )

        tau, _ = law.compute(bare, law.initial())

        assert np.isfinite(tau).all()
