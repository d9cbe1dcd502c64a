"""Time of one distance between two bodies, beside coal.

``python -m benchmarks.gate.distance``: ``any`` are random pairs by kind; ``robot``
pairs of a robot and ground nearer than 10 cm; ``bound`` the cheap bound of all.
"""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable

import coal
import numpy as np
import pinocchio as pin

from benchmarks.ik import load_robot
from paprle.compiled import compiled
from paprle.contracts.settings.core import GateSettings, SceneBodySettings
from paprle.contracts.types import Vec
from paprle.robot.arrays import Bodies, Ints, place_joints
from paprle.robot.bodies.arrays import make_bodies, place_bodies, to_arrays
from paprle.robot.bodies.distance import bound_pair, measure_pair
from paprle.robot.tree import Primitive

ROBOTS = ("piper", "ur5e", "papras_7dof", "papras_7dof_2arm", "g1")
N_PAIRS = 1000
N_REPEATS = 9
NEAR = 0.1  # [m]
N_SIZES = {"sphere": 1, "capsule": 2, "box": 3, "cylinder": 2}
GROUND = {"ground": SceneBodySettings(shape="ground", xyz=(0.0, 0.0, -0.05))}


@compiled
def measure_all(bodies: Bodies, a: Ints, b: Ints, R: Vec, p: Vec, out: Vec) -> float:
    least = np.inf
    for i in range(len(a)):
        least = min(least, measure_pair(bodies, a[i], b[i], R, p, out))
    return least


@compiled
def bound_all(bodies: Bodies, a: Ints, b: Ints, R: Vec, p: Vec) -> float:
    least = np.inf
    for i in range(len(a)):
        least = min(least, bound_pair(bodies, a[i], b[i], R, p))
    return least


def time_each(n: int, *calls: Callable[[], object]) -> list[float]:
    """Return calls' median times by pair, [ns]."""
    times: list[list[int]] = [[] for _ in calls]
    for _ in range(N_REPEATS + 1):
        for call, spent in zip(calls, times, strict=True):
            begin = time.perf_counter_ns()
            call()
            spent.append(time.perf_counter_ns() - begin)
    return [round(float(np.median(spent[1:])) / n, 1) for spent in times]


def make_coal(bodies: list[Primitive], R: Vec, p: Vec) -> list[tuple]:
    kinds = {"sphere": coal.Sphere, "capsule": coal.Capsule, "box": coal.Box}
    kinds["cylinder"] = coal.Cylinder
    return [
        (kinds[body.shape](*body.size), coal.Transform3s(R[i], p[i]))
        for i, body in enumerate(bodies)
    ]


def measure_kinds(one: str, two: str, rng: np.random.Generator) -> dict[str, float]:
    shapes = [one] * N_PAIRS + [two] * N_PAIRS
    primitives = [
        Primitive(
            link="l",
            T_link_body=pin.SE3.Identity(),
            shape=shape,
            size=tuple(rng.uniform(0.02, 0.3, N_SIZES[shape])),
        )
        for shape in shapes
    ]
    bodies = to_arrays(primitives, {})
    R = np.array([pin.exp3(rng.normal(size=3) * 2) for _ in shapes])
    p = rng.uniform(-0.5, 0.5, (len(shapes), 3))
    a, b, out = np.arange(N_PAIRS), np.arange(N_PAIRS) + N_PAIRS, np.zeros(9)
    theirs = make_coal(primitives, R, p)
    R = R @ bodies.R
    request, result = coal.DistanceRequest(), coal.DistanceResult()

    def run_coal() -> None:
        for i in range(N_PAIRS):
            (one, T_one), (two, T_two) = theirs[i], theirs[i + N_PAIRS]
            result.clear()
            coal.distance(one, T_one, two, T_two, request, result)

    ours, bound, peer = time_each(
        N_PAIRS,
        lambda: measure_all(bodies, a, b, R, p, out),
        lambda: bound_all(bodies, a, b, R, p),
        run_coal,
    )
    return {"measure_ns": ours, "bound_ns": bound, "coal_from_python_ns": peer}


def measure_robot(name: str, rng: np.random.Generator) -> dict[str, float]:
    robot = load_robot(name)
    bodies, pairs, _ = make_bodies(robot, GateSettings(scene=GROUND))
    model = robot.make_collision_model(GROUND)
    m, nb, out = len(robot.tree.parent), len(bodies.kind), np.zeros(9)
    R_joint, p_joint = np.zeros((m, 3, 3)), np.zeros((m, 3))
    R, p = np.zeros((nb, 3, 3)), np.zeros((nb, 3))
    rows = []
    for _ in range(30):
        q = rng.uniform(np.maximum(robot.q_min, -3.2), np.minimum(robot.q_max, 3.2))
        place_joints(robot.tree, q, R_joint, p_joint)
        place_bodies(bodies, R_joint, p_joint, R, p)
        k = [
            k
            for k, (a, b) in enumerate(zip(pairs.a, pairs.b, strict=True))
            if 0.0 < measure_pair(bodies, a, b, R, p, out) < NEAR
        ]
        a, b = pairs.a[k], pairs.b[k]
        if not k:
            continue
        near, bound, peer = time_each(
            1,
            lambda a=a, b=b: measure_all(bodies, a, b, R, p, out),
            lambda: bound_all(bodies, pairs.a, pairs.b, R, p),
            lambda q=q: model.clearances(q),
        )
        n = len(pairs.a)
        rows.append((len(k), near / len(k), bound / n, peer / n))
    n_near, near, bound, peer = np.median(np.array(rows), axis=0)
    return {
        "pairs": len(pairs.a),
        "near": float(n_near),
        "measure_near_ns": round(near, 1),
        "bound_ns": round(bound, 1),
        "coal_ns": round(peer, 1),
    }


def main() -> None:
    rng = np.random.default_rng(0)
    kinds = itertools.combinations_with_replacement(N_SIZES, 2)
    found = {
        "any": {f"{a} {b}": measure_kinds(a, b, rng) for a, b in kinds},
        "robot": {name: measure_robot(name, rng) for name in ROBOTS},
    }
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
