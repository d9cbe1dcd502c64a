"""Calibration of servo arms, on arms that were mounted and shown in known ways."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paprle.contracts.kit.calibration.arm import JointModel, RecordedPostures, fit_arm

JOINTS = tuple(
    JointModel(name=name, q_min=-travel, q_max=travel, q_shown=shown)
    for name, travel, shown in (
        ("pan", 1.92, 0.8),
        ("lift", 1.75, 0.9),
        ("elbow", 1.69, 0.7),
        ("wrist", 1.66, -0.8),
    )
)


@dataclass
class Mounted:
    """An arm as somebody built it, and a person who shows it."""

    sign: list[int] = field(default_factory=lambda: [1, 1, -1, 1])
    offset: list[float] = field(default_factory=lambda: [0.3, -2.0, 1.1, 4.0])
    gear: list[float] = field(default_factory=lambda: [1.0] * 4)
    servo_of: list[int] = field(default_factory=lambda: [0, 1, 2, 3])
    clumsy: float = 0.05
    seed: int = 0

    def measure(self, q):
        """Angles of the servos, at the place in which their ids put them."""
        angle = np.array(self.sign) * np.array(self.gear) * q + np.array(self.offset)
        seen = np.empty_like(angle)
        seen[..., self.servo_of] = angle
        return seen

    def show(self, ends=None) -> RecordedPostures:
        """Record both postures and a sweep to ``ends``, (n, 2), the stops if None."""
        rng = np.random.default_rng(self.seed)
        shown = np.array([joint.q_shown for joint in JOINTS])
        ends = [(j.q_min, j.q_max) for j in JOINTS] if ends is None else ends
        rows, q = [], np.zeros(len(JOINTS))
        for i, (low, high) in enumerate(ends):
            for a, b in ((q[i], low), (low, high), (high, 0.0)):
                for share in np.linspace(0.0, 1.0, 20):
                    q[i] = a + share * (b - a)
                    rows.append(q + rng.uniform(-0.004, 0.004, q.size))
        return RecordedPostures(
            middle=self.measure(rng.uniform(-self.clumsy, self.clumsy, q.size)),
            shown=self.measure(shown + rng.uniform(-0.1, 0.1, q.size)),
            sweep=self.measure(np.array(rows)),
        )


@given(
    st.lists(st.sampled_from([-1, 1]), min_size=4, max_size=4),
    st.lists(st.floats(-6.0, 6.0), min_size=4, max_size=4),
    st.integers(0, 999),
)
def test_any_mounting_is_found_within_half_a_degree(sign, offset, seed):
    arm = Mounted(sign, offset, seed=seed, clumsy=0.1)

    fits, problems = fit_arm(JOINTS, arm.show())

    assert problems == []
    assert [fit.sign for fit in fits] == sign
    assert [fit.offset for fit in fits] == pytest.approx(offset, abs=np.radians(0.5))


def test_a_joint_that_turns_freely_takes_its_zero_from_the_posture():
    free = [
        *JOINTS[:3],
        JointModel(name="roll", q_min=-3.1, q_max=3.1, q_shown=-0.8, has_stops=False),
    ]

    fits, problems = fit_arm(free, Mounted(clumsy=0.0).show())

    assert problems == []
    assert fits[3].offset == pytest.approx(4.0, abs=1e-6)


@pytest.mark.parametrize("joint", range(4))
@pytest.mark.parametrize("by", [-17.0, 17.0])
def test_a_middle_17_degrees_off_is_refused(joint, by):
    arm = Mounted()
    recorded = arm.show()
    recorded.middle[joint] += np.radians(by)

    _, problems = fit_arm(JOINTS, recorded)

    assert any("expected the middle that was shown" in text for text in problems)
    assert {text.split(":")[0] for text in problems} == {JOINTS[joint].name}


@pytest.mark.parametrize("joint", range(4))
def test_a_stop_that_was_not_reached_is_refused(joint):
    ends = [(j.q_min, j.q_max) for j in JOINTS]
    ends[joint] = (ends[joint][0], ends[joint][1] - np.radians(34.0))

    _, problems = fit_arm(JOINTS, Mounted().show(ends))

    assert len(problems) == 1
    assert "both stops" in problems[0]


@pytest.mark.parametrize("pair", [(0, 1), (1, 2), (0, 3)])
def test_two_exchanged_servos_are_named(pair):
    order = [0, 1, 2, 3]
    order[pair[0]], order[pair[1]] = order[pair[1]], order[pair[0]]

    _, problems = fit_arm(JOINTS, Mounted(servo_of=order).show())

    named = [text for text in problems if "exchanged" in text]
    assert {text.split(":")[0] for text in named} == {JOINTS[i].name for i in pair}


def test_a_joint_that_was_not_shown_is_named():
    arm = Mounted()
    recorded = arm.show()
    recorded.shown[2] = recorded.middle[2]

    _, problems = fit_arm(JOINTS, recorded)

    assert len(problems) == 1
    assert "elbow: expected a turn of +40 [deg]" in problems[0]


def test_a_joint_that_was_not_swept_is_named():
    ends = [(j.q_min, j.q_max) for j in JOINTS]
    ends[1] = (0.0, 0.0)

    _, problems = fit_arm(JOINTS, Mounted().show(ends))

    assert any("got lift still" in text for text in problems)


def test_a_gear_between_servo_and_joint_is_refused():
    _, problems = fit_arm(JOINTS, Mounted(gear=[1.0, 2.0, 1.0, 1.0]).show())

    assert any("lift" in text and "its gear is not 1" in text for text in problems)
