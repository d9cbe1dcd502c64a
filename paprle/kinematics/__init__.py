"""Inverse kinematics: weighted damped least squares, limits inside, compiled.

``solver`` serves one limb, ``robot_solver`` sessions.
"""

from paprle.kinematics.solver import (
    IkConfig,
    IkSolution,
    IkSolver,
    estimate_sigma_min,
)

__all__ = ["IkConfig", "IkSolution", "IkSolver", "estimate_sigma_min"]
