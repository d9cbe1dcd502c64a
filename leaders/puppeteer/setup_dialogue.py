"""Questions of a servo set-up."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping

from paprle.hardware.dynamixel.errors import BusError
from paprle.hardware.dynamixel.setup import Goal

Goals = Mapping[str, Goal]
"""New settings of each servo, by the name of its joint."""


def set_up_each(
    goals: Goals, set_up_alone: Callable[[Goal], None]
) -> Generator[str, str, list[str]]:
    """Ask for each servo alone, and set it up.

    Yields:
        Questions; expects the answer.

    Returns:
        A line for each servo.
    """
    done: list[str] = []
    for name, goal in goals.items():
        before = f"{done[-1]}\n" if done else ""
        question = (
            f"connect the servo of {name} alone (a {goal.spec.model}; it becomes id "
            f"{goal.spec.id}), with its power; type s to skip it"
        )
        while (yield before + question) != "s":
            try:
                set_up_alone(goal)
            except BusError as err:
                before = f"{err}\nonce more: "
                continue
            done.append(describe_goal(name, goal))
            break
    return done


def describe_goal(name: str, goal: Goal) -> str:
    """Return a line on a set-up servo."""
    also = "" if goal.second is None else f", obeys id {goal.second} too"
    return (
        f"{name}: id {goal.spec.id}{also}, {goal.baud} [bit/s], return delay 0 [µs], "
        f"{goal.spec.model}"
    )
