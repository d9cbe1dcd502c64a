"""Targets that try to break the gate, servos that lag, and independent judges."""

from __future__ import annotations

import json
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pinocchio as pin
import yaml
from arm_table import write_arm_table
from arms import ROOT, load_robot
from pydantic import TypeAdapter

from paprle.contracts.settings.core import RobotSettings
from paprle.oracle import JudgedLimits, check_commands
from paprle.robot import RobotModel

H = 0.005  # [s]
SLACK = 5e-4  # [m] what a clearance may be missed by
BLOCK = 20  # postures that are looked at for the same pairs
BAD = (np.nan, np.inf, -np.inf, 1e308, -1e308, 1e30, 5e-324)
PATTERNS = ("square", "points", "walk", "edge", "cross", "clash", "rub")


@cache
def load(name):
    """Return a robot of configs/follower, or ``table2``, ``table4``: arms around it."""
    if not name.startswith("table"):
        return load_robot(name)
    settings = yaml.safe_load((ROOT / "configs/follower/papras_7dof.yaml").read_text())
    arm = settings["limbs"].pop("arm")
    settings["urdf"] = "table.urdf"
    settings["limits"]["q_max"] = {}
    ignored = settings.pop("ignore_collisions")
    settings["ignore_collisions"] = []
    for k in range(int(name.removeprefix("table"))):
        settings["limbs"][f"arm{k}"] = {
            "base_link": f"a{k}_{arm['base_link']}",
            "eef_link": f"a{k}_{arm['eef_link']}",
            "joints": [f"a{k}_{joint}" for joint in arm["joints"]],
            "home": arm["home"],
            "gripper": {**arm["gripper"], "joint": f"a{k}_{arm['gripper']['joint']}"},
        }
        settings["limits"]["q_max"][f"a{k}_gripper"] = arm["gripper"]["closed"]
        settings["ignore_collisions"] += [
            [f"a{k}_{x}" for x in pair] for pair in ignored
        ]
    with tempfile.TemporaryDirectory() as folder:
        write_arm_table(folder, len(settings["limbs"]))
        made = TypeAdapter(RobotSettings).validate_json(json.dumps(settings))
        return RobotModel.from_settings(made, name, Path(folder))


class Judge:
    """Bodies of a robot and its scene in coal, and what each pair is to keep."""

    def __init__(self, robot, settings, slack=SLACK):
        self.model = robot.make_collision_model(settings.scene)
        self.keep = self.model.find_kept(
            settings.clearance_self, settings.clearance_scene
        )
        requests = self.model._results.collisionRequests
        for request, keep in zip(requests, self.keep, strict=True):
            request.security_margin = float(keep - slack)
        self._reach_2 = self._find_reach() ** 2

    def miss(self, q):
        """Return by how much the worst pair is nearer than it keeps, [m]."""
        return float((self.keep - self.model.clearances(q)).max(initial=-np.inf))

    def is_clear(self, q):
        """Tell whether every pair keeps its clearance but for the slack."""
        return not self.model._collide(q, stop_at_first=True)

    def draw_clash(self, rng, robot):
        """Return a random posture in which something overlaps."""
        low, high = np.maximum(robot.q_min, -np.pi), np.minimum(robot.q_max, np.pi)
        for _ in range(3000):
            q = rng.uniform(low, high)
            if self.model.find_collision(q) is not None:
                return q
        return q

    def find_bad(self, postures):
        """Return indices of postures that come too near.

        A block at a time coal looks at those pairs alone whose balls come near: of four
        arms one in a hundred.
        """
        bad = []
        for k in range(0, len(postures), BLOCK):
            block = postures[k : k + BLOCK]
            self._look_at(self._find_near(block))
            bad += [k + i for i, q in enumerate(block) if not self.is_clear(q)]
        self._look_at(np.ones_like(self._reach_2, dtype=bool))
        return bad

    def _look_at(self, pairs):
        geometry = self.model._geometry
        self.model._results.setActiveCollisionPairs(geometry, pairs)

    def _find_reach(self):
        """Return below which distance of two bodies' origins they may be too near."""
        radii = []
        for body in self.model._geometry.geometryObjects:
            body.geometry.computeLocalAABB()
            center = np.linalg.norm(body.geometry.aabb_center)
            radii.append(body.geometry.aabb_radius + center)
        return np.add.outer(radii, radii) + self.keep.max(initial=0.0)

    def _find_near(self, postures):
        """Return which bodies' balls come near each other in any of these postures."""
        model = self.model
        tree, results = model._tree, model._results
        at = np.empty((len(postures), len(self._reach_2), 3))
        for k, q in enumerate(postures):
            pin.updateGeometryPlacements(
                tree.model, model._data, model._geometry, results, tree.expand(q)
            )
            at[k] = [place.translation for place in results.oMg]
        products = at @ at.transpose(0, 2, 1)
        squares = np.einsum("kii->ki", products)
        apart_2 = squares[:, :, None] + squares[:, None, :] - 2.0 * products
        return (apart_2 < self._reach_2 + 1e-9).any(axis=0)

    def find_bad_between(self, postures, parts=2):
        """Return those that come too near half-way to the next, or at finer parts."""
        bad = set()
        for share in np.arange(1, parts) / parts:
            between = postures[:-1] + share * np.diff(postures, axis=0)
            bad.update(self.find_bad(between))
        return sorted(bad)


def judge_joints(commands, robot, h=H, q_start=None):
    """Return the oracle's verdict on a whole sequence."""
    limits = JudgedLimits(
        q_min=robot.q_min,
        q_max=robot.q_max,
        dq_max=robot.dq_max,
        ddq_max=getattr(robot, "info", robot).ddq_max,
        dddq_max=getattr(robot, "info", robot).dddq_max,
        h=h,
    )
    start = robot.home if q_start is None else q_start
    return check_commands(np.array(commands), limits, q_start=start)


def make_targets(rng, robot, n, pattern, judge=None, spoil=0.02):
    """Return adversarial targets, shape (n, joints); some hold what is no number."""
    low = np.maximum(robot.q_min, -np.pi)
    high = np.minimum(robot.q_max, np.pi)
    m = len(low)
    if pattern == "square":
        # long enough to travel all the way
        ends = rng.uniform(low, high, (2, m))
        targets = ends[(np.arange(n) // rng.integers(100, 400)) % 2]
    elif pattern == "walk":
        start = rng.uniform(low, high, m)
        targets = start + np.cumsum(rng.normal(0, 0.05, (n, m)), axis=0)
    elif pattern == "edge":
        often = rng.integers(20, 200)
        ends = np.where(rng.random((n // often + 1, m)) < 0.5, low, high)
        targets = np.repeat(ends, often, axis=0)[:n]
    elif pattern == "cross":
        # each joint swings at its own rate, over all of its range
        t = np.arange(n)[:, None] * H
        rate, phase = rng.uniform(0.5, 4.0, m), rng.uniform(0, 6, m)
        targets = (low + high) / 2 + (high - low) / 2 * np.sin(rate * t + phase)
    elif pattern == "clash":
        # from one posture that overlaps to the next
        often = rng.integers(30, 300)
        ends = [judge.draw_clash(rng, robot) for _ in range(n // often + 1)]
        targets = np.repeat(ends, often, axis=0)[:n]
    elif pattern == "rub":
        # into what is in the way, and along it as fast as joints go
        t = np.arange(n)[:, None] * H
        often = rng.integers(100, 400)
        ends = [judge.draw_clash(rng, robot) for _ in range(n // often + 1)]
        targets = np.repeat(ends, often, axis=0)[:n]
        targets = targets + 0.5 * np.sin(rng.uniform(1, 8, m) * t)
    else:
        often = rng.integers(5, 200)
        ends = rng.uniform(low, high, (n // often + 1, m))
        targets = np.repeat(ends, often, axis=0)[:n]
    targets = np.array(targets)
    bad = np.flatnonzero(rng.random(n) < spoil)
    targets[bad, rng.integers(m, size=len(bad))] = rng.choice(BAD, len(bad))
    return targets


class Servo:
    """Joints that follow commands with first-order lags of their own."""

    def __init__(self, q, lags, h=H):
        self.q = np.array(q)
        self._share = 1.0 - np.exp(-h / np.asarray(lags))

    def step(self, q_cmd):
        """Follow a command for one period; return where the joints are."""
        self.q = self.q + self._share * (q_cmd - self.q)
        return self.q


def drive(gate, targets, h=H, *, rng=None, servo=None):
    """Return commands, events and postures; limits change in motion if rng is given."""
    commands, events, postures = [], [], []
    q_meas = None if servo is None else servo.q
    for target in targets:
        feed, age = None, 0.0
        if rng is not None:
            if rng.random() < 0.01:
                gate.reduce(bool(rng.random() < 0.1))
            if rng.random() < 0.005:
                gate.speed_scale = float(rng.uniform(0.1, 1.0))
            age = rng.choice([0.0, 0.05, 0.2, np.nan], p=[0.9, 0.08, 0.01, 0.01])
            if rng.random() < 0.1:
                feed = rng.normal(0, gate.dq_max)
        result = gate.step(target, h, age, q_meas, dq_des=feed)
        commands.append(result.q_cmd)
        events.append(result.events)
        if servo is not None:
            q_meas = servo.step(result.q_cmd).copy()
            postures.append(q_meas)
    return np.array(commands), events, np.array(postures)
