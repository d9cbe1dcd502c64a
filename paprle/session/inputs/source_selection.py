"""Which leader's limb drives each limb of the robot, while the session is engaged.

The first source of a limb that may drive does. A leader that falls silent, loses track
or lets go takes its limbs out; they brake and hold. It comes back by a deliberate press
where a person holds it (S3), after a while of steady samples where nobody does, and
with it its limbs, once they stand: they begin anew. A limb that the operator holds, a
clutch of its own, has no source until it is let go of.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from paprle.session.inputs.leaders import Leaders


class Drivers:
    """The source of each limb in this tick.

    Attributes:
        choice: Place of the source among the limb's; -1: it holds, by limb.
        is_settled: Every limb has the source that it wants.
        held: Places of the limbs that the operator holds.
    """

    def __init__(self, sources: Sequence[Sequence[int]], leaders: Leaders) -> None:
        """Make it.

        Args:
            sources: Limbs of the leaders that may drive each limb of the robot.
            leaders: All leaders.
        """
        self._sources = [[leaders.owners[row] for row in rows] for rows in sources]
        self._leaders = leaders
        n = len(leaders.intakes)
        self.choice = [-1] * len(sources)
        self._may = [False] * n
        self.is_settled = self._is_driven = False
        self.held: frozenset[int] = frozenset()
        self._needs_press = [False] * n
        self._n_presses = [0] * n

    @property
    def is_any_driving(self) -> bool:
        """Whether any source may drive: its limb may stand first, or be held."""
        if self.is_settled:
            return self._is_driven
        return any(self._find_source(i) >= 0 for i in range(len(self.choice)))

    @property
    def is_any_held(self) -> bool:
        """Whether a person holds any source that would drive if it engaged now."""
        return any(self.is_human(i, choice) for i, choice in self.preview().items())

    def preview(self) -> dict[int, int]:
        """Return the source of each limb if the session engaged now."""
        usable = self._leaders.usable
        return {
            i: -1
            if i in self.held
            else next((k for k, p in enumerate(sources) if usable[p]), -1)
            for i, sources in enumerate(self._sources)
        }

    def hold(self, limbs: frozenset[int]) -> None:
        """Hold these limbs, and let the others go on."""
        if limbs != self.held:
            self.held, self.is_settled = limbs, False

    @property
    def waiting(self) -> frozenset[int]:
        """Places of the leaders that may drive a limb but wait for an earlier one."""
        return frozenset(
            leader
            for choice, sources in zip(self.choice, self._sources, strict=True)
            for leader in sources[choice + 1 :]
            if choice >= 0 and self._may[leader] and leader != sources[choice]
        )

    def is_human(self, limb: int, choice: int) -> bool:
        """Whether a person holds a source of a limb; -1, no source, is nobody."""
        if choice < 0:
            return False
        return self._leaders.infos[self._sources[limb][choice]].is_human

    def begin(self) -> dict[int, int]:
        """Let every leader drive that may now; return the source of each limb."""
        self._may = list(self._leaders.usable)
        self._needs_press = [
            info.is_human and not may
            for info, may in zip(self._leaders.infos, self._may, strict=True)
        ]
        self._n_presses = self._count_presses()
        self.choice = [self._find_wanted(i) for i in range(len(self.choice))]
        self._settle()
        return dict(enumerate(self.choice))

    def update(self) -> None:
        """Note which leaders may drive in this tick."""
        leaders = self._leaders
        for p, usable in enumerate(leaders.usable):
            may = self._may[p]
            if may and usable:
                continue
            self._may[p] = self._returns(p, usable)
            self.is_settled = self.is_settled and self._may[p] == may

    def choose(self, stands: Callable[[int], bool]) -> dict[int, int]:
        """Return the limbs whose source changes, and the new one; -1: they brake.

        Args:
            stands: Whether a limb's command stands still, so that it may begin.
        """
        changed: dict[int, int] = {}
        for i, choice in enumerate(self.choice):
            wanted = self._find_wanted(i)
            if wanted == choice:
                continue
            if choice >= 0:
                changed[i] = -1
            elif stands(i):
                changed[i] = wanted
        for i, choice in changed.items():
            self.choice[i] = choice
        self._settle()
        return changed

    def _settle(self) -> None:
        """Note whether every limb has the source that it wants."""
        wanted = [self._find_wanted(i) for i in range(len(self.choice))]
        self.is_settled = wanted == self.choice
        self._is_driven = any(self._find_source(i) >= 0 for i in range(len(wanted)))

    def _find_wanted(self, limb: int) -> int:
        """Return the source that is to drive; -1: none."""
        return -1 if limb in self.held else self._find_source(limb)

    def _find_source(self, limb: int) -> int:
        """Return the first source that may drive; -1: none."""
        for k, leader in enumerate(self._sources[limb]):
            if self._may[leader]:
                return k
        return -1

    def _returns(self, p: int, usable: bool) -> bool:
        """Whether a leader that did not drive may do so again."""
        intake, info = self._leaders.intakes[p], self._leaders.infos[p]
        sample = intake.sample
        if sample is None:
            return False
        n_presses = intake.dead_man.n_presses
        has_pressed = n_presses != self._n_presses[p]
        self._n_presses[p] = n_presses
        if not usable:
            lets_go = sample.valid and not sample.engaged
            self._needs_press[p] |= info.is_human and not lets_go
            return False
        if not info.is_human:
            return self._leaders.is_leader_steady(p)
        self._needs_press[p] &= not has_pressed
        return not self._needs_press[p]

    def _count_presses(self) -> list[int]:
        """Return how often each leader was taken hold of, by presses that count."""
        return [intake.dead_man.n_presses for intake in self._leaders.intakes]
