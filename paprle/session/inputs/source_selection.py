"""Selection of the leader limb that drives each robot limb.

Limbs without one brake and hold. A lost leader returns by a new press (S3) or, without
a person, after steady samples.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from paprle.session.inputs.leaders import Leaders


class Drivers:
    """The source of each limb; -1: it holds."""

    def __init__(self, sources: Sequence[Sequence[int]], leaders: Leaders) -> None:
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
        """Whether any source may drive."""
        if self.is_settled:
            return self._is_driven
        return any(self._find_source(i) >= 0 for i in range(len(self.choice)))

    @property
    def is_any_held(self) -> bool:
        """Whether a person holds a source that would drive."""
        return any(self.is_human(i, choice) for i, choice in self.preview().items())

    def preview(self) -> dict[int, int]:
        """Return each limb's source if engaged now."""
        usable = self._leaders.usable
        return {
            i: -1
            if i in self.held
            else next((k for k, p in enumerate(sources) if usable[p]), -1)
            for i, sources in enumerate(self._sources)
        }

    def hold(self, limbs: frozenset[int]) -> None:
        """Hold these limbs alone."""
        if limbs != self.held:
            self.held, self.is_settled = limbs, False

    @property
    def waiting(self) -> frozenset[int]:
        """Leaders that wait for an earlier source."""
        return frozenset(
            leader
            for choice, sources in zip(self.choice, self._sources, strict=True)
            for leader in sources[choice + 1 :]
            if choice >= 0 and self._may[leader] and leader != sources[choice]
        )

    def is_human(self, limb: int, choice: int) -> bool:
        """Whether a person holds a source; never for -1."""
        if choice < 0:
            return False
        return self._leaders.infos[self._sources[limb][choice]].is_human

    def begin(self) -> dict[int, int]:
        """Engage permitted leaders; return each limb's source."""
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
        """Note the leaders that may drive."""
        leaders = self._leaders
        for p, usable in enumerate(leaders.usable):
            may = self._may[p]
            if may and usable:
                continue
            self._may[p] = self._returns(p, usable)
            self.is_settled = self.is_settled and self._may[p] == may

    def choose(self, stands: Callable[[int], bool]) -> dict[int, int]:
        """Return changed sources by limb; limbs that ``stands`` may begin."""
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
        wanted = [self._find_wanted(i) for i in range(len(self.choice))]
        self.is_settled = wanted == self.choice
        self._is_driven = any(self._find_source(i) >= 0 for i in range(len(wanted)))

    def _find_wanted(self, limb: int) -> int:
        return -1 if limb in self.held else self._find_source(limb)

    def _find_source(self, limb: int) -> int:
        for k, leader in enumerate(self._sources[limb]):
            if self._may[leader]:
                return k
        return -1

    def _returns(self, p: int, usable: bool) -> bool:
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
        return [intake.dead_man.n_presses for intake in self._leaders.intakes]
