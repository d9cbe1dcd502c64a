"""Laws are keys of the section ``feedback`` like any other."""

import pytest

from paprle.config import Resolved, resolve
from paprle.contracts.errors import ConfigError
from paprle.haptics.haptics import make_laws

TRIPLE = ("leader=autopilot", "follower=piper", "env=kinematic")


def names(*words):
    return [law.name for law in make_laws(resolve((*TRIPLE, *words)).feedback)]


def test_some_laws_are_on_from_the_start():
    assert names() == [
        "contact", "damping", "friction", "gravity", "gripper", "posture",
        "task_tracking", "tracking", "wall",
    ]  # fmt: skip


def test_a_law_is_switched_on_by_a_key_and_off_by_null_or_no_weight():
    words = ("feedback.laws.gravity.share=0.5", "feedback.laws.wall=null")

    assert names(*words, "feedback.laws.gripper.weight=0") == [
        "contact", "damping", "friction", "gravity", "posture", "task_tracking",
        "tracking",
    ]  # fmt: skip


def test_laws_cross_to_another_process_as_they_are():
    resolved = resolve((*TRIPLE, "feedback.laws.tracking.k_gate=0.7"))
    again = Resolved.from_dict(resolved.to_dict())

    assert again.feedback == resolved.feedback
    assert again.feedback.laws.tracking.k_gate == 0.7


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("feedback.laws.traking.weight=1", "did you mean 'tracking'"),
        ("feedback.laws.tracking.k_gat=1", "did you mean 'k_gate'"),
        ("feedback.laws.wall.weight=-1", "expected a number ≥ 0"),
        ("feedback.torque_share=0.5", "expected a number ≤ 0.3"),
        ("feedback.stale_after=0.2", "expected a number ≤ 0.05"),
    ],
)
def test_mistakes_are_told_as_anywhere_else(word, message):
    with pytest.raises(ConfigError, match=message):
        resolve((*TRIPLE, word))
