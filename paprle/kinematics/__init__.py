"""Inverse kinematics: weighted damped least squares, limits inside, compiled.

``step`` says how one step is found, ``track`` when it is taken, ``search`` what is done
where there is no start nearby; ``solver`` is what the rest of PAPRLE calls.
``paprle.kinematics.robot_solver`` calls ``track`` for all limbs of a robot at once.
"""

from paprle.kinematics.solver import (
    IkConfig,
    IkSolution,
    IkSolver,
    estimate_sigma_min,
)

__all__ = ["IkConfig", "IkSolution", "IkSolver", "estimate_sigma_min"]
