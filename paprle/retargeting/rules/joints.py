"""Joint by joint: q = gain · q_leader + offset (PAPRLE III, requirements P7)."""

from __future__ import annotations

import numpy as np

from paprle.contracts.types import Vec
from paprle.retargeting.mapping import map_joints
from paprle.retargeting.rules.base import LimbRule, LimbTarget, RuleInputs
from paprle.robot.arrays import Ints


class JointsRule(LimbRule[None]):
    """The leader's joints drive the limb's.

    Attributes:
        source: Joints' places in ``SampleView.numbers``; -1: it holds.
        line: Gain, offset and the bounds of the number, shape (n_l, 4).
    """

    begins_at_command = False
    carry_back = "joints"

    def __init__(self, source: Ints, line: Vec) -> None:
        self.source, self.line = source, line

    def begin(self, inputs: RuleInputs) -> None:
        """Return no state."""

    def apply(self, inputs: RuleInputs, state: None) -> tuple[LimbTarget, None]:
        """Return the joints of the sample."""
        q = np.empty(len(self.source))
        map_joints(inputs.sample.numbers, self.source, self.line, q)
        return LimbTarget(q=q), state
