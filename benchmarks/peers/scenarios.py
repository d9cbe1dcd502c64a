"""Scenarios, their sizes and result rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.peers.arrival import measure_arrivals
from benchmarks.peers.driver import Driver
from benchmarks.peers.judge import judge_cold, judge_freeze, judge_paths, judge_track
from benchmarks.peers.robots import Robot, make_robot
from benchmarks.peers.targets import make_cold, make_crossing, make_lines, make_motion

Rows = dict[str, dict[str, Any]]
"""Rows by peer."""

_SEEN = 10  # every so many ticks clearance is measured where it is not the point


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """Sizes of the scenarios.

    Attributes:
        n_warm: Paths of 5 s, without collision.
        n_apart: With collision.
        n_fast: Paths of 4 s.
        n_crossings: Of 6 s.
        n_growth: Paths of 1 s around the table.
        n_arrivals: An arm or a pair.
        budget: Per track and peer, [s].
    """

    n_warm: int
    n_apart: int
    n_fast: int
    n_lines: int
    n_cold: int
    n_crossings: int
    n_growth: int
    n_arrivals: int
    budget: float


FULL = Sizes(
    n_warm=20,
    n_apart=5,
    n_fast=6,
    n_lines=40,
    n_cold=600,
    n_crossings=2,
    n_growth=1,
    n_arrivals=100,
    budget=4.0,
)
QUICK = Sizes(
    n_warm=2,
    n_apart=1,
    n_fast=1,
    n_lines=5,
    n_cold=40,
    n_crossings=1,
    n_growth=1,
    n_arrivals=5,
    budget=0.25,
)


class Bench:
    """Rows by scenario, robot and peer."""

    def __init__(self, driver: Driver, sizes: Sizes, folder: Path) -> None:
        self._driver = driver
        self._sizes = sizes
        self._folder = folder
        self._robots: dict[str, Robot] = {}
        self.results: dict[str, dict[str, Any]] = {}

    def run(self, say: Callable[[str], None]) -> None:
        """Run every scenario on its robots."""
        for scenario, names in SCENARIOS.items():
            for name in names:
                say(f"{scenario}: {name}")
                rows = getattr(self, "_" + scenario)(self._robot(name))
                self.results.setdefault(scenario, {})[name] = rows

    def describe(self) -> dict[str, Any]:
        """Return each robot's size."""
        return {
            name: {
                "joints": len(robot.problem.joint_names),
                "limbs": len(robot.problem.limbs),
                "pairs": len(robot.problem.pairs),
            }
            for name, robot in self._robots.items()
        }

    def _robot(self, name: str) -> Robot:
        if name not in self._robots:
            self._robots[name] = make_robot(name, self._folder)
        return self._robots[name]

    def _track(
        self, robot: Robot, targets: Any, variant: str, every: int = _SEEN
    ) -> tuple[Rows, dict[str, Any]]:
        results = self._driver.track(robot, targets, variant)
        rows = {
            peer: judge_track(robot, targets, result, every)
            for peer, result in results.items()
        }
        return rows, results

    def _warm(self, robot: Robot) -> Rows:
        is_single = len(robot.problem.limbs) == 1
        n = self._sizes.n_warm if is_single else self._sizes.n_apart
        targets = make_motion(robot, "warm", n, 5.0)
        return self._track(robot, targets, "without")[0]

    def _apart(self, robot: Robot) -> Rows:
        targets = make_motion(robot, "warm", self._sizes.n_apart, 5.0)
        return self._track(robot, targets, "with")[0]

    def _fast(self, robot: Robot) -> Rows:
        targets = make_motion(robot, "fast", self._sizes.n_fast, 4.0)
        return self._track(robot, targets, "without")[0]

    def _lines(self, robot: Robot) -> Rows:
        targets = make_lines(robot, self._sizes.n_lines)
        rows, results = self._track(robot, targets, "without")
        for peer, row in rows.items():
            row["paths"] = judge_paths(targets, robot, results[peer]["q"])
            row["ik_paths"] = judge_paths(targets, robot, results[peer]["q_ik"])
        return rows

    def _cold(self, robot: Robot) -> Rows:
        targets, starts = make_cold(robot, self._sizes.n_cold, 5)
        results = self._driver.search(robot, targets, starts)
        return {p: judge_cold(robot, targets, result) for p, result in results.items()}

    def _crossing(self, robot: Robot) -> Rows:
        targets = make_crossing(robot, self._sizes.n_crossings)
        rows, results = self._track(robot, targets, "with", every=1)
        for peer, row in rows.items():
            row["freeze"] = judge_freeze(robot, targets, results[peer]["q"])
        return rows

    def _growth(self, robot: Robot) -> Rows:
        targets = make_motion(robot, "warm", self._sizes.n_growth, 1.0)
        return self._track(robot, targets, "with")[0]

    def _arrival(self, robot: Robot) -> Rows:
        return {"ours": measure_arrivals(robot, self._sizes.n_arrivals)}


SCENARIOS = {
    "warm": ("papras_7dof", "ur5e", "papras_7dof_2arm", "g1", "table4"),
    "apart": (
        "papras_7dof",
        "papras_7dof_capsules",
        "ur5e",
        "papras_7dof_2arm",
        "g1",
        "table4",
    ),
    "fast": ("papras_7dof", "ur5e", "papras_7dof_2arm"),
    "lines": ("papras_7dof", "ur5e"),
    "cold": ("papras_7dof", "ur5e"),
    "crossing": ("papras_7dof_2arm", "table4"),
    "growth": ("table1", "table2", "table3", "table4"),
    "arrival": ("papras_7dof", "ur5e", "papras_7dof_2arm"),
}
