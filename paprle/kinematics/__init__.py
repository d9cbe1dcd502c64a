"""Inverse kinematics: weighted damped least squares, limits inside, compiled.

``solver`` is the interface for one limb, ``robot_solver`` that of sessions.
"""

from paprle.kinematics.solver import (
    IkConfig,
    IkSolution,
    IkSolver,
    estimate_sigma_min,
)

__all__ = ["IkConfig", "IkSolution", "IkSolver", "estimate_sigma_min"]
