"""Agreement of the gate's bodies with the robot's own shapes.

``python -m benchmarks.bodies [URDF|NAME …]``: each URDF, or ``ROBOTS`` of
example-robot-data, as ``new-robot`` writes it, in random postures:

* ``missed``: share of touching postures with a touching pair that the gate has apart or
  ignores;
* ``unseen``: those without any contact for the gate;
* ``blocked``: share of free postures in which bodies touch;
* ``far``: blocked ones whose meshes keep the gate's clearance, the measure of bodies.

Pinocchio and coal judge the URDF's meshes, for links with two or more joints between
that move against each other, but for printed pairs that touch in 95 % of postures (as
in MoveIt's Setup Assistant), or in half and at mid-range. Adjacent links are not
missed; if they touch while the gate keeps them apart, the posture is not free.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import coal
import numpy as np
import pinocchio as pin

from benchmarks.devices.onboarding import find_robots
from paprle import Gate
from paprle.contracts.errors import ConfigError
from paprle.contracts.settings.core import GateSettings
from paprle.robot import RobotModel
from paprle_lab.onboarding.new_robot import write_new_robot

ROBOTS = (
    "panda", "ur5_robot", "ur10_robot", "xarm7", "z1", "kinova", "so101",
    "alex_nub_hands", "baxter", "pr2", "g1_29dof_rev_1_0", "tiago_dual",
)  # fmt: skip
N_POSTURES = 600  # chosen: 1 in 100 is told from 3 in 100
ALWAYS = 0.95  # MoveIt Setup Assistant: the share of postures that is "always"
MOSTLY = 0.5  # chosen: of what touches in the middle of all ways as well
N_GOALS, N_STEPS = 20, 100  # chosen: a gate's goals, and periods for each
H = 0.005  # [s] the period of a session's gate
Pair = frozenset[str]


class Truth:
    """A URDF's own shapes.

    Attributes:
        names: Links of each geometry.
        pairs: Indices of geometries that move against each other.
        judged: Links with two or more joints between.
    """

    def __init__(self, urdf: Path) -> None:
        self.model = pin.buildModelFromUrdf(str(urdf))
        folders = [str(folder) for folder in urdf.parents]
        self.geometry = pin.buildGeomFromUrdf(
            self.model, str(urdf), pin.GeometryType.COLLISION, package_dirs=folders
        )
        objects = list(self.geometry.geometryObjects)
        self.names = [self.model.frames[one.parentFrame].name for one in objects]
        self._mimics = read_mimics(urdf)
        joints = [one.parentJoint for one in objects]
        n_between = {
            (a, b): len(self._moved_between(joints[a], joints[b]))
            for a, b in itertools.combinations(range(len(objects)), 2)
        }
        self.pairs = [pair for pair, n in n_between.items() if n > 0]
        self.judged = {
            frozenset((self.names[a], self.names[b]))
            for (a, b), n in n_between.items()
            if n > 1
        }
        for a, b in self.pairs:
            self.geometry.addCollisionPair(pin.CollisionPair(a, b))
        self._data = self.model.createData()
        self._results = pin.GeometryData(self.geometry)

    def find_touching(self, q: dict[str, float]) -> set[Pair]:
        """Return the touching pairs of links at joint positions."""
        full = pin.neutral(self.model)
        for joint, name in zip(self.model.joints, self.model.names, strict=True):
            source, scale, offset = self._mimics.get(name, (name, 1.0, 0.0))
            if source in q and joint.nv == 1:
                at = scale * q[source] + offset
                is_angle = joint.nq == 2
                values = [math.cos(at), math.sin(at)] if is_angle else [at]
                full[joint.idx_q : joint.idx_q + joint.nq] = values
        pin.computeCollisions(
            self.model, self._data, self.geometry, self._results, full, False
        )
        found = self._results.collisionResults
        return {
            frozenset((self.names[a], self.names[b]))
            for k, (a, b) in enumerate(self.pairs)
            if found[k].isCollision()
        }

    def measure_gap(self, q: dict[str, float], pairs: set[Pair]) -> float:
        """Return pairs' least distance, [m]."""
        self.find_touching(q)
        gaps = []
        for a, b in self.pairs:
            if frozenset((self.names[a], self.names[b])) in pairs:
                shapes = [self.geometry.geometryObjects[k].geometry for k in (a, b)]
                at = [self._results.oMg[k] for k in (a, b)]
                places = [coal.Transform3s(T.rotation, T.translation) for T in at]
                request, result = coal.DistanceRequest(), coal.DistanceResult()
                gaps.append(
                    coal.distance(
                        shapes[0], places[0], shapes[1], places[1], request, result
                    )
                )
        return min(gaps, default=math.inf)

    def _moved_between(self, a: int, b: int) -> set[str]:
        ways = [set(self.model.supports[joint]) for joint in (a, b)]
        names = [self.model.names[joint] for joint in ways[0] ^ ways[1]]
        return {self._mimics.get(name, (name,))[0] for name in names}


def read_mimics(urdf: Path) -> dict[str, tuple[str, float, float]]:
    """Return each mimic joint's leader and relation."""
    found = {}
    for joint in ET.parse(urdf).getroot().iterfind("joint"):
        mimic = joint.find("mimic")
        if mimic is not None:
            found[joint.get("name", "")] = (
                mimic.get("joint", ""),
                float(mimic.get("multiplier", 1.0)),
                float(mimic.get("offset", 0.0)),
            )
    return found


class Judged(NamedTuple):
    """Findings of one robot."""

    touching: int
    n_free: int
    missed: int
    unseen: int
    blocked: int
    far: int
    always: list[Pair]
    missed_pairs: Counter[Pair]
    blocking_pairs: Counter[Pair]
    far_pairs: Counter[Pair]


def judge(truth: Truth, robot: RobotModel) -> Judged:
    """Compare contacts with the gate's pairs."""
    model = robot.make_collision_model({})
    rng = np.random.default_rng(7)
    low = np.where(np.isfinite(robot.q_min), robot.q_min, -np.pi)
    high = np.where(np.isfinite(robot.q_max), robot.q_max, np.pi)
    postures = rng.uniform(low, high, (N_POSTURES, len(low)))
    names = robot.joint_names
    really = [truth.find_touching(dict(zip(names, q, strict=True))) for q in postures]
    seen = [{frozenset(pair) for pair in model.find_collisions(q)} for q in postures]
    counts = Counter(pair for pairs in really for pair in pairs & truth.judged)
    middle = truth.find_touching(dict(zip(names, 0.5 * (low + high), strict=True)))
    always = [
        pair
        for pair, n in counts.items()
        if n >= (MOSTLY if pair in middle else ALWAYS) * N_POSTURES
    ]
    touching = n_free = missed = unseen = blocked = far = 0
    missed_pairs: Counter[Pair] = Counter()
    blocking_pairs: Counter[Pair] = Counter()
    far_pairs: Counter[Pair] = Counter()
    clearance = GateSettings().clearance_self
    for q, touched, found in zip(postures, really, seen, strict=True):
        true_pairs = (touched & truth.judged).difference(always)
        if true_pairs:
            touching += 1
            missed += bool(true_pairs - found)
            unseen += not found
            missed_pairs.update(true_pairs - found)
        elif not touched & found:
            n_free += 1
            blocked += bool(found)
            if found:
                gap = truth.measure_gap(dict(zip(names, q, strict=True)), found)
                far += gap >= clearance
                far_pairs.update(found if gap >= clearance else ())
            blocking_pairs.update(found)
    counted = touching, n_free, missed, unseen, blocked, far
    return Judged(*counted, always, missed_pairs, blocking_pairs, far_pairs)


def time_gate(robot: RobotModel) -> float:
    """Return the median gate step towards random goals, [µs]."""
    gate = Gate(robot, h=H, allow_no_bodies=True)
    rng = np.random.default_rng(3)
    low, high = np.maximum(robot.q_min, -np.pi), np.minimum(robot.q_max, np.pi)
    took = []
    for _ in range(N_GOALS):
        goal = rng.uniform(low, high)
        for _ in range(N_STEPS):
            begin = time.perf_counter_ns()
            gate.step(goal, H)
            took.append(time.perf_counter_ns() - begin)
    return float(np.median(took)) / 1000.0


def share(part: int, whole: int) -> str:
    return f"{100.0 * part / whole:5.1f} %" if whole else "    – "


def name_pairs(pairs: Counter[Pair]) -> str:
    return ", ".join(f"{'–'.join(sorted(p))} {n}" for p, n in pairs.most_common(6))


def try_robot(urdf: Path) -> bool:
    """Judge one robot; return whether bars hold."""
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        try:
            report = write_new_robot(urdf, Path(folder), "robot")
        except ConfigError as err:
            print(f"{urdf.stem:20} refused: {err}", flush=True)
            return False
        took = time.perf_counter() - begin
        robot = RobotModel.from_yaml(report.path)
        n_bodies = robot.make_collision_model({}).n_robot_bodies
        found = judge(Truth(urdf), robot)
        period = time_gate(robot)
    print(
        f"{urdf.stem:20} touch {found.touching:4}/{N_POSTURES}  "
        f"missed {share(found.missed, found.touching)}  "
        f"unseen {share(found.unseen, found.touching)}  "
        f"blocked {share(found.blocked, found.n_free)}  "
        f"far {share(found.far, found.n_free)}  "
        f"bodies {n_bodies:3}  pairs {report.collision_pairs:5}  "
        f"period {period:6.1f} µs  new-robot {took:5.1f} s",
        flush=True,
    )
    for what, pairs in (
        ("missed", found.missed_pairs),
        ("blocking", found.blocking_pairs),
        ("blocking though far", found.far_pairs),
        ("always", Counter(found.always)),
    ):
        if pairs:
            print(f"    {what}: {name_pairs(pairs)}", flush=True)
    return found.missed <= 0.01 * found.touching and found.far <= 0.05 * found.n_free


def main(words: list[str]) -> None:
    """Judge each robot; print the number that pass."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bodies")
    parser.add_argument("robots", nargs="*", metavar="URDF|NAME", default=ROBOTS)
    known = {urdf.stem: urdf for urdf in find_robots()}
    asked = parser.parse_args(words).robots
    robots = [known[word] if word in known else Path(word) for word in asked]
    good = sum(try_robot(urdf) for urdf in robots)
    print(
        f"{good} of {len(robots)} miss at most 1 %, and block at most 5 % of the free "
        "though meshes are as far apart as asked"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
