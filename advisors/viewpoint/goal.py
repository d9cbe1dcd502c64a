"""Goal of a camera: a position, independent of its arm.

g* = argmin Σ w_j f_j(g) over g in R³ (Eq. 2): line of sight (Eq. 5), height (Eq. 6)
and distance (Eq. 7), each with the loss

    f(χ) = (−1)ⁿ exp(−(χ − s)² / (2c²)) + r (χ − s)^p                          (Eq. 3)

Deviations: the bump is 0.12 m wide, as in the authors' code (paper: 0.04 m); the
distance counts from the target, as in Fig. 2, not from the hand. p = 4 is the paper's;
the authors' code has 2.

References:
    Rakita, Mutlu, Gleicher, "An Autonomous Dynamic Camera Method for Effective Remote
    Teleoperation", HRI 2018.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from paprle.contracts.types import Vec

_N_STEPS = 25  # chosen: a start that is near is left after five
NO_OBSTACLES: Vec = np.empty((0, 7))


class Wish(NamedTuple):
    """One term of the loss; defaults are the paper's.

    Attributes:
        n: 1: a notch, attracts; 0: a bump, repels.
        s: Centre, in the unit of χ.
        power: Exponent p, even.
    """

    weight: float
    n: int = 1
    s: float = 0.0
    r: float = 1.0
    c: float = 0.1
    power: int = 4


class Wishes(NamedTuple):
    """Losses of the camera's position.

    Attributes:
        occlusion: Obstacles' distance from the line of sight (Eq. 5).
        height: Camera height (Eq. 6).
        distance: Excess distance from the target (Eq. 7).
    """

    occlusion: Wish = Wish(3.0, n=0, r=1e-4, c=0.12)
    height: Wish = Wish(1.0, s=0.7, r=0.2, c=0.2)
    distance: Wish = Wish(2.0)


class Shell(NamedTuple):
    """The reachable space, between two spheres.

    Attributes:
        centre: [m].
        inner: Radius, [m].
        outer: Radius, [m].
        weight: Of the squared excess, [1/m²].
    """

    centre: tuple[float, float, float] = (0.0, 0.0, 0.0)
    inner: float = 0.0
    outer: float = 1e6
    weight: float = 50.0  # chosen: 0.2 m beyond count as much as a whole wish


class GoalScene(NamedTuple):
    """Target and obstacles.

    Attributes:
        target: (3,), [m].
        distance: Requested, [m].
        obstacles: Begin, end and radius, (n, 7), [m].
        lowest: Least camera height, [m].
    """

    target: Vec
    distance: float
    obstacles: Vec = NO_OBSTACLES
    shell: Shell = Shell()
    lowest: float = -np.inf


class Goal(NamedTuple):
    """Goal of the camera; ``g`` is its position, (3,), [m]."""

    g: Vec
    cost: float


class GoalSolver:
    """Local optimiser of the camera's position."""

    def __init__(self, wishes: Wishes | None = None) -> None:
        self._wishes = np.array(wishes or Wishes(), dtype=np.float64)

    def cost(self, g: Vec, scene: GoalScene) -> tuple[float, Vec]:
        """Return cost and gradient (3,) at a position (3,), [m]."""
        # kernels, none of which is loaded where plug-ins are only listed
        from paprle.advisors.viewpoint.kernels import cost_place  # noqa: PLC0415

        slope = np.empty(3)
        shell = np.array([*scene.shell.centre, *scene.shell[1:]])
        cost = cost_place(
            g, scene.target, scene.distance, scene.obstacles, shell, self._wishes, slope
        )
        return float(cost), slope

    def solve(self, scene: GoalScene, starts: Sequence[Vec]) -> Goal:
        """Return the best local minimum, no worse than any start.

        ``starts`` has at least one position, (3,), [m].
        """
        bounds = [(None, None), (None, None), (scene.lowest, None)]
        found = [
            minimize(
                self.cost,
                start,
                args=(scene,),
                jac=True,
                method="L-BFGS-B",
                bounds=bounds,
                options={"maxiter": _N_STEPS},
            )
            for start in starts
        ]
        best = min(found, key=lambda one: float(one.fun))
        return Goal(np.array(best.x), float(best.fun))
