"""Inverse kinematics: weighted damped least squares, limits inside, compiled.

``dls_step`` computes one step, ``newton_ik`` iterates it, ``global_ik`` searches where
no start is nearby, and ``solver`` is the library's interface. Sessions solve all limbs
of a robot at once with ``robot_solver``.
"""

from paprle.kinematics.solver import (
    IkConfig,
    IkSolution,
    IkSolver,
    estimate_sigma_min,
)

__all__ = ["IkConfig", "IkSolution", "IkSolver", "estimate_sigma_min"]
