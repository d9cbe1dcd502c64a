"""Commands of gates and solutions of the IK, printed to the last bit.

``python kernel_commands.py [plain]``: with ``plain``, kernels compile as they do with a
Numba that ``paprle.compiled.kernel_parts`` was not verified with. It needs the core's
dependencies alone, so that it runs beside any Numba.
"""

from __future__ import annotations

import sys

import numpy as np

from paprle import compiled

if "plain" in sys.argv:
    compiled.PIPELINES = None  # before any kernel is made

from paprle import Gate, IkSolver
from paprle.config import resolve
from paprle.hosts.plan import make_robot

H = 0.005  # [s]
ROBOTS = {"piper": 300, "papras_7dof_2arm": 300}  # steps
N_GOALS = 10


def load(name):
    resolved = resolve(["leader=autopilot", f"follower={name}", "env=kinematic"])
    return make_robot(resolved), resolved.gate


def show(*values, events=()):
    print(*(float(value).hex() for value in values), *events)  # noqa: T201 - for a pipe


def show_commands(name, n, rng):
    """Drive a gate to random postures, out of reach and into itself as well."""
    robot, settings = load(name)
    low, high = np.maximum(robot.q_min, -np.pi), np.minimum(robot.q_max, np.pi)
    gate = Gate(robot, settings, h=H)
    gate.reset(robot.home)
    q_meas = robot.home
    for k in range(n):
        if k % 60 == 0:
            q_des = rng.uniform(low - 0.1, high + 0.1)
        result = gate.step(None if k > n - 30 else q_des, H, q_meas=q_meas)
        q_meas = q_meas + 0.5 * (result.q_cmd - q_meas)
        show(*result.q_cmd, result.clearance, events=result.events)


def show_solutions(name, rng):
    """Solve for poses near and far."""
    robot, _ = load(name)
    limb = next(iter(robot.limbs.values()))
    low, high = np.maximum(limb.q_min, -np.pi), np.minimum(limb.q_max, np.pi)
    solver = IkSolver(limb)
    for size in np.geomspace(0.01, 3.0, N_GOALS):
        q = rng.uniform(low, high)
        goal = np.clip(q + rng.uniform(-size, size, len(q)), limb.q_min, limb.q_max)
        for solve in (solver.solve, solver.solve_global):
            found = solve(limb.fk(goal), q)
            show(*found.q, *found[1:])


if __name__ == "__main__":
    for robot_name, n_steps in ROBOTS.items():
        generator = np.random.default_rng(0)
        show_commands(robot_name, n_steps, generator)
        show_solutions(robot_name, generator)
