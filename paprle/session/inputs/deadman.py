"""The dead-man rule: a press counts after a release was seen, while it is held.

A press is used up if it was held from the start, or while tracking was lost, a pose was
guessed, a page was hidden or no sample came. It counts again after a release that was
seen while tracking was good (safety.md S3). The rule is the same for all leaders; they
report the hold and the tracking separately.
"""

from __future__ import annotations


class DeadMan:
    """The dead-man of one leader.

    Attributes:
        is_held: It is held, and that counts.
        n_presses: How often it was seen released and then held.
    """

    def __init__(self, *, has_deadman: bool) -> None:
        """Begin unseen.

        Args:
            has_deadman: The leader has one; else its ``engaged`` counts at once, and
                only presses are counted.
        """
        self.is_held = False
        self.n_presses = 0
        self._has_deadman = has_deadman
        self._is_released = self._is_pressed = False

    def spend(self) -> None:
        """Use up what is held: it counts after it was released again."""
        self._is_pressed = False
        self.is_held = self.is_held and not self._has_deadman

    def update(self, *, is_engaged: bool, is_good: bool) -> None:
        """Take the newest sample's hold, once every tick.

        Args:
            is_engaged: ``LeaderSample.engaged``.
            is_good: The sample is fresh, tracked and plausible.
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
