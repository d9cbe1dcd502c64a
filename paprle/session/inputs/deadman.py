"""The dead-man rule: a press counts after a release was seen (safety.md S3).

A press is spent if held from the start or through lost tracking, a guessed pose, a
hidden page or missing samples.
"""

from __future__ import annotations


class DeadMan:
    """The dead-man of one leader.

    Attributes:
        is_held: A press that counts is held.
        n_presses: Number of presses after releases.
    """

    def __init__(self, *, has_deadman: bool) -> None:
        """Start unseen; without a dead-man ``engaged`` counts at once."""
        self.is_held = False
        self.n_presses = 0
        self._has_deadman = has_deadman
        self._is_released = self._is_pressed = False

    def spend(self) -> None:
        """Spend the held press."""
        self._is_pressed = False
        self.is_held = self.is_held and not self._has_deadman

    def update(self, *, is_engaged: bool, is_good: bool) -> None:
        """Take the newest ``engaged``, every tick.

        ``is_good``: the sample is fresh, tracked and plausible.
        """
        if not is_good:
            self.is_held = self._is_released = self._is_pressed = False
            return
        if not is_engaged:
            self._is_released, self._is_pressed = True, False
        elif self._is_released:
            self._is_released, self._is_pressed = False, True
            self.n_presses += 1
        self.is_held = is_engaged and (self._is_pressed or not self._has_deadman)
