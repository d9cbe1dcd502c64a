"""Goal of a camera: a point of space, without any robot that carries it.

g* = argmin Σ w_j f_j(g) over g in R³ (Eq. 2, second line), of three wishes: nothing of
the arm is between g and the target (Eq. 5), g is high (Eq. 6), and g is as far from the
target as was asked (Eq. 7). The line of sight is the segment from g to the target, so
that all three depend on g. The loss of each is

    f(χ) = (−1)ⁿ exp(−(χ − s)² / (2c²)) + r (χ − s)^p                          (Eq. 3)

a notch, or for n = 0 a bump, as wide as c around s, and a slope towards it from
everywhere else. The paper writes p = 4, with which the slope fades where one is nearly
there; its authors' code has p = 2.

Where the paper is not followed: the bump of an occlusion is 0.12 m wide (with the
printed 0.04 m it is nothing at 0.1 m already, while the text speaks of 0.3 m; the
authors' code has 0.12), and distance counts from the target, as in the table of Fig. 2,
not from the hand.

References:
    Rakita, Mutlu, Gleicher, "An Autonomous Dynamic Camera Method for Effective Remote
    Teleoperation", HRI 2018, Eq. 2, 3 and 5–7.
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
    """One term: how much it counts, and its loss; the defaults are the paper's.

    Attributes:
        weight: How much it counts.
        n: 1: a notch, which draws; 0: a bump, which repels.
        s: Where it is, in the unit of χ.
        r: How steep the slope is.
        c: How wide the notch is.
        power: Of the slope, p, even.
    """

    weight: float
    n: int = 1
    s: float = 0.0
    r: float = 1.0
    c: float = 0.1
    power: int = 4


class Wishes(NamedTuple):
    """Losses of the place of a camera.

    Attributes:
        occlusion: Of the distance of each obstacle from the line of sight (Eq. 5).
        height: Of the camera's height (Eq. 6).
        distance: Of how much farther from the target it is than asked (Eq. 7).
    """

    occlusion: Wish = Wish(3.0, n=0, r=1e-4, c=0.12)
    height: Wish = Wish(1.0, s=0.7, r=0.2, c=0.2)
    distance: Wish = Wish(2.0)


class Shell(NamedTuple):
    """The space that a camera's carrier reaches: between two spheres.

    Attributes:
        centre: Of both, [m].
        inner: Radius, [m].
        outer: Radius, [m].
        weight: Of the square of what is beyond, [1/m²].
    """

    centre: tuple[float, float, float] = (0.0, 0.0, 0.0)
    inner: float = 0.0
    outer: float = 1e6
    weight: float = 50.0  # chosen: 0.2 m beyond count as much as a whole wish


class GoalScene(NamedTuple):
    """Scene of a camera: its target and obstacles.

    Attributes:
        target: What is to be seen, shape (3,), [m].
        distance: How far away to be, [m].
        obstacles: Segments with a radius: begin, end, radius, shape (n, 7), [m].
        shell: What is in reach.
        lowest: Height below which the camera is not to be, [m].
    """

    target: Vec
    distance: float
    obstacles: Vec = NO_OBSTACLES
    shell: Shell = Shell()
    lowest: float = -np.inf


class Goal(NamedTuple):
    """Goal of the camera.

    Attributes:
        g: Shape (3,), [m].
        cost: Of being there.
    """

    g: Vec
    cost: float


class GoalSolver:
    """Finds the best place of a camera near where it is."""

    def __init__(self, wishes: Wishes | None = None) -> None:
        self._wishes = np.array(wishes or Wishes(), dtype=np.float64)

    def cost(self, g: Vec, scene: GoalScene) -> tuple[float, Vec]:
        """Return the cost of a place, shape (3,), and its gradient, shape (3,)."""
        # kernels, none of which is loaded where plug-ins are only listed
        from paprle.advisors.viewpoint.kernels import cost_place  # noqa: PLC0415

        slope = np.empty(3)
        shell = np.array([*scene.shell.centre, *scene.shell[1:]])
        cost = cost_place(
            g, scene.target, scene.distance, scene.obstacles, shell, self._wishes, slope
        )
        return float(cost), slope

    def solve(self, scene: GoalScene, starts: Sequence[Vec]) -> Goal:
        """Find the best place downhill of some starts.

        Args:
            scene: What there is.
            starts: Where to begin, shape (3,) each, [m]; one at least.

        Returns:
            The best of those found; it costs no more than any start.
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
