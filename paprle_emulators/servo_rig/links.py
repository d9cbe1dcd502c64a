"""Rigid-body dynamics of one arm, with numpy alone.

In world axes, with J the Jacobians of the centres of mass (Jᵥ) and of the bodies'
rotations (Jω), M = Σ m Jᵥᵀ Jᵥ + Jωᵀ I Jω; gravity and Coriolis torques follow from the
bodies' accelerations without joint acceleration (Featherstone, Rigid Body Dynamics
Algorithms, 2008, chapter 6).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paprle_emulators.servo_rig.urdf import Tree, make_rotation

Vec = NDArray[np.float64]

GRAVITY = 9.81  # spec: standard gravity [m/s²]
_NEXT, _LAST = [1, 2, 0], [2, 0, 1]
_SKEW = [0, 2, 1, 2, 0, 0, 1, 0, 0]
_SIGNS = np.array([0.0, -1, 1, 1, 0, -1, -1, 1, 0])


class _Pose(NamedTuple):
    """Joints and bodies at joint positions.

    Attributes:
        z: Joint axes, shape (n, 3).
        p: Joint origins, shape (n, 3), [m].
        c: Centres of mass, shape (n, 3), [m].
        turn: z of revolute joints, else 0.
        lever: Velocity at the world's origin by joint velocity, [m].
        J: Shape (n, 3 n), the bodies last.
        root: Square roots of inertias, shape (n, 3, 3).
    """

    z: Vec
    p: Vec
    c: Vec
    turn: Vec
    lever: Vec
    J: Vec
    root: Vec


class Links:
    """Rigid bodies of one arm; vectors (n,) in joint order.

    Attributes:
        lower: [rad].
        upper: [rad].
        damping: Of <dynamics>, [N·m·s/rad].
        friction: [N·m].
        gravity: In base axes, shape (3,), [m/s²].
    """

    def __init__(
        self, urdf: Path, joint_names: Sequence[str], rpy: tuple[float, float, float]
    ) -> None:
        """Read a URDF; ``rpy`` is the base in upright axes, [rad].

        Raises:
            ValueError: If it lacks a joint.
        """
        tree = Tree(urdf)
        self.bodies = bodies = tree.read(joint_names)
        self.lower, self.upper = bodies.lower, bodies.upper
        self.damping = tree.read_dynamics(joint_names, "damping")
        self.friction = tree.read_dynamics(joint_names, "friction")
        self.gravity = make_rotation(rpy).T @ np.array([0.0, 0.0, -GRAVITY])
        n = len(joint_names)
        self._steps = [(i, bodies.parents[i]) for i in bodies.order]
        self._moves = np.zeros((n, n))  # of each joint: the bodies that it moves
        for i, parent in self._steps:
            self._moves[:, i] = self._moves[:, parent] if parent >= 0 else 0.0
            self._moves[i, i] = 1.0
        self._moves_3 = np.tile(self._moves, 3)
        self._turns, self._slides = bodies.turns, ~bodies.turns
        self._at_zero = bodies.placements
        self._by_sine, self._by_versine = _find_turns(bodies.placements, bodies.axes)
        self._by_slide = np.zeros((n, 4, 4))
        self._by_slide[:, :3, 3:] = (
            bodies.placements[:, :3, :3] @ bodies.axes[..., None]
        )
        self._mass = bodies.masses
        self._mass_root = np.tile(np.sqrt(bodies.masses), 3)
        self._inside = np.stack([bodies.axes, bodies.centres], axis=2)
        values, vectors = np.linalg.eigh(bodies.inertias)
        self._root: Vec = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]

    def accelerate(self, q: Vec, dq: Vec, tau: Vec, added: Vec) -> Vec:
        """Return the accelerations; see ``arm.Links``."""
        pose = self._place(q)
        M = self._compute_mass(pose)
        M.flat[:: len(q) + 1] += added
        bias = self._compute_bias(pose, dq)
        return np.asarray(np.linalg.solve(M, tau - bias), dtype=np.float64)

    def compute_gravity(self, q: Vec) -> Vec:
        """Return the gravity torque, (n,), [N·m]."""
        pulls = np.outer(-self.gravity, self._mass)
        tau: Vec = self._place(q).J @ pulls.ravel()
        return tau

    def compute_mass(self, q: Vec) -> Vec:
        """Return the mass matrix, (n, n), [kg·m²]."""
        return self._compute_mass(self._place(q))

    def measure_reach(self, q: Vec, hand: int) -> Vec:
        """Return joint distances; see ``arm.Links``."""
        p = self._place(q).p
        reach: Vec = np.linalg.norm(p - p[hand], axis=1)
        return reach

    def _place(self, q: Vec) -> _Pose:
        local = self._at_zero + np.sin(q)[:, None, None] * self._by_sine
        local += (1.0 - np.cos(q))[:, None, None] * self._by_versine
        if self._slides.any():
            slid = self._at_zero + q[:, None, None] * self._by_slide
            local = np.where(self._slides[:, None, None], slid, local)
        world = np.empty_like(local)
        for i, parent in self._steps:
            world[i] = local[i] if parent < 0 else world[parent] @ local[i]
        R, p = world[:, :3, :3], world[:, :3, 3]
        inside = R @ self._inside
        z, c = inside[:, :, 0], p + inside[:, :, 1]
        Z = (z[:, _SKEW] * _SIGNS).reshape(-1, 3, 3)
        about = (Z @ p[:, :, None])[:, :, 0]
        J, turn, lever = Z @ c.T - about[:, :, None], z, -about
        if self._slides.any():
            J[self._slides] = z[self._slides, :, None]
            turn = np.where(self._turns[:, None], z, 0.0)
            lever = np.where(self._turns[:, None], lever, z)
        flat = J.reshape(len(q), -1) * self._moves_3
        return _Pose(z, p, c, turn, lever, flat, R @ self._root)

    def _compute_mass(self, pose: _Pose) -> Vec:
        n = len(pose.z)
        heavy = pose.J * self._mass_root
        spun = (pose.turn @ pose.root.transpose(1, 2, 0).reshape(3, -1)) * self._moves_3
        M: Vec = heavy @ heavy.T + spun @ spun.T
        return M.reshape(n, n)

    def _compute_bias(self, pose: _Pose, dq: Vec) -> Vec:
        """Return gravity and Coriolis torques, (n,), [N·m]."""
        carried, by = self._moves.T, dq[:, None]
        turn, slide = by * pose.turn, by * pose.lever
        speeds = carried @ np.hstack([turn, slide])
        w, v = speeds[:, :3], speeds[:, 3:]
        crossed = _cross(np.stack([w, w, v, w]), np.stack([turn, slide, turn, pose.c]))
        biases = carried @ np.hstack([crossed[0], crossed[1] + crossed[2]])
        spin = biases[:, :3]
        root_t = pose.root.transpose(0, 2, 1)
        momentum = pose.root @ (root_t @ np.stack([w, spin], axis=2))
        second = _cross(
            np.stack([spin, w, w]),
            np.stack([pose.c, v + crossed[3], momentum[:, :, 0]]),
        )
        force = biases[:, 3:] + second[0] + second[1] - self.gravity
        force *= self._mass[:, None]
        torque = self._moves @ (momentum[:, :, 1] + second[2])
        tau: Vec = pose.J @ force.T.ravel() + (pose.turn * torque).sum(axis=1)
        return tau


def _find_turns(placements: Vec, axes: Vec) -> tuple[Vec, Vec]:
    K = np.zeros_like(placements)
    K[:, :3, :3] = (axes[:, _SKEW] * _SIGNS).reshape(-1, 3, 3)
    return placements @ K, placements @ K @ K


def _cross(a: Vec, b: Vec) -> Vec:
    """Return cross products, thrice as fast as np.cross."""
    out: Vec = a[..., _NEXT] * b[..., _LAST] - a[..., _LAST] * b[..., _NEXT]
    return out
