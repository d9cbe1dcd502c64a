"""Published target sets, by seed.

Reachable targets are forward kinematics of motions within limits of position (by 0.03
rad), speed and acceleration, bodies apart; others are beyond the sum of link lengths.
"""

from __future__ import annotations

import zlib
from typing import Protocol

import numpy as np
import pinocchio as pin

from benchmarks.peers.problem import Targets
from benchmarks.peers.robots import DT, Robot

_ROOM = 0.03  # [rad] chosen: from position limits; the gate itself keeps 0.02
_APART = 0.03  # [m] chosen: of the bodies, so that nobody's avoidance has to act
_NEIGHBOURS = 0.9  # chosen: of the clearance at home, where neighbours are nearer
_RAMP = 1.0  # [s] chosen: in which a motion takes up its speed
_SHARE = 0.9  # chosen: of the acceleration limit that reachable motions use at most
_TRIES = 3000
_LINE_SPEED = 0.4  # [m/s] issue: paths through limits and singularities
_LINE_ACCELERATION = 2.0  # [m/s²] chosen: full speed in 0.2 s
_LINE_TURN = 1.0  # [rad] chosen: from start to end, so that most ways can be gone
_BEYOND = 1.3  # chosen: times the arm's length: out of reach whatever it does


def make_rng(robot: Robot, scenario: str, seed: int) -> np.random.Generator:
    """Return a scenario's generator."""
    text = f"{robot.problem.name}/{scenario}"
    return np.random.default_rng([seed, zlib.crc32(text.encode())])


class Fk:
    """Poses of eefs and bases in the root."""

    def __init__(self, robot: Robot) -> None:
        problem = robot.problem
        self.model = pin.buildModelFromUrdf(problem.urdf_pin)
        self.data = self.model.createData()
        self.columns = np.zeros(self.model.nq, dtype=int)
        self.columns[problem.columns(list(self.model.names[1:]))] = np.arange(
            self.model.nq
        )
        self.frames = [self.model.getFrameId(x.eef_link) for x in problem.limbs]
        self.bases = [self.model.getFrameId(x.base_link) for x in problem.limbs]

    def __call__(self, q: np.ndarray) -> np.ndarray:
        """Return T_root_eef, (n_limbs, 4, 4)."""
        pin.framesForwardKinematics(self.model, self.data, q[self.columns])
        return np.array([self.data.oMf[k].homogeneous for k in self.frames])

    def along(self, qs: np.ndarray) -> np.ndarray:
        """Return poses, (n_ticks, n_limbs, 4, 4)."""
        return np.array([self(q) for q in qs])


def _is_clear(robot: Robot, qs: np.ndarray) -> bool:
    apart = min(_APART, _NEIGHBOURS * robot.judge.min_clearance(robot.model.home))
    return all(robot.judge.min_clearance(q) >= apart for q in qs)


class Bounds(Protocol):
    """Limits of a motion, (n,), [rad], [rad/s], [rad/s²]."""

    home: np.ndarray
    q_min: np.ndarray
    q_max: np.ndarray
    dq_max: np.ndarray
    ddq_max: np.ndarray


def _limits(model: Bounds) -> tuple[np.ndarray, np.ndarray]:
    low = np.maximum(model.q_min, -np.pi) + _ROOM
    return low, np.minimum(model.q_max, np.pi) - _ROOM


def make_time(n: int) -> np.ndarray:
    """Return slowly starting time, (n,), [s]."""
    t = np.arange(n) * DT
    s = np.minimum(t / _RAMP, 1.0)
    rate = s * s * (3.0 - 2.0 * s)
    return np.concatenate([[0.0], np.cumsum((rate[1:] + rate[:-1]) / 2 * DT)])


def keeps_limits(model: Bounds, q: np.ndarray) -> bool:
    """Return whether q (n_ticks, n) keeps limits from rest."""
    low, high = _limits(model)
    if (q < low - 1e-9).any() or (q > high + 1e-9).any():
        return False
    dq = np.diff(np.vstack([q[:1], q]), axis=0) / DT
    ddq = np.diff(dq, axis=0) / DT
    is_slow = (np.abs(dq) <= model.dq_max).all()
    is_smooth = (np.abs(ddq) <= model.ddq_max).all()
    return bool(is_slow and is_smooth)


def _warm(model: Bounds, rng: np.random.Generator, n: int) -> np.ndarray:
    low, high = _limits(model)
    home, m = model.home, len(model.home)
    t = make_time(n)[:, None]
    centre = home + rng.uniform(-0.3, 0.3, m)
    q = np.zeros((n, m))
    for speed in (0.4, 0.3):
        omega = rng.uniform(0.8, 2.5, m)
        amplitude = rng.uniform(0.3, 1.0, m) * speed / omega
        phase = rng.uniform(0, 2 * np.pi, m)
        q += amplitude * np.sin(omega * t + phase)
    span = q.max(axis=0) - q.min(axis=0)
    shrink = np.minimum(1.0, 0.9 * (high - low) / span)
    q = centre + q * shrink
    q += np.maximum(low - q.min(axis=0), 0.0) - np.maximum(q.max(axis=0) - high, 0.0)
    return q


def make_fast(model: Bounds, rng: np.random.Generator, n: int) -> np.ndarray:
    """Return sines: 3 rad/s or less, one joint at its limit."""
    low, high = _limits(model)
    m = len(model.home)
    lead = rng.uniform(0.9, 1.0)  # one joint at the top, the others below
    share = rng.uniform(0.2, 0.6, m)
    share[rng.integers(m)] = lead
    speed = share * np.minimum(3.0, 0.98 * model.dq_max)
    omega = _SHARE * 0.9 * model.ddq_max / speed * rng.uniform(0.6, 1.0, m)
    amplitude = np.minimum(speed / omega, 0.5 * (high - low))
    omega = np.minimum(speed / amplitude, omega)
    wave = amplitude * np.sin(omega * make_time(n)[:, None] + rng.uniform(0, 6.28, m))
    centre = np.clip(
        model.home + rng.uniform(-0.6, 0.6, m), low + amplitude, high - amplitude
    )
    near = rng.random(m) < 0.4
    to_high = high - amplitude - model.home < model.home - low - amplitude
    centre = np.where(near & to_high, high - amplitude, centre)
    centre = np.where(near & ~to_high, low + amplitude, centre)
    is_near = np.abs(centre - model.home) < 1.2  # [rad] else far from any work
    centre = np.where(
        is_near, centre, np.clip(model.home, low + amplitude, high - amplitude)
    )
    return centre + wave


def make_motion(
    robot: Robot, scenario: str, n_paths: int, seconds: float, seed: int = 0
) -> Targets:
    """Return reachable motions; every fifth warm one leaves."""
    rng, fk = make_rng(robot, scenario, seed), Fk(robot)
    make, n = {"warm": _warm, "fast": make_fast}[scenario], round(seconds / DT)
    T, starts, kind = [], [], []
    for k in range(n_paths):
        q = _find_feasible(robot, rng, make, n)
        poses, kinds = fk.along(q), np.zeros(n, dtype=int)
        if scenario == "warm" and k % 5 == 4:
            poses, kinds = _lead_out(fk, robot, poses)
        T.append(poses)
        starts.append(q[0])
        kind.append(kinds)
    first = np.arange(n_paths) * n
    return Targets(np.concatenate(T), first, np.array(starts), np.concatenate(kind))


def _find_feasible(robot, rng, make, n):
    for _ in range(_TRIES):
        q = make(robot.model, rng, n)
        if keeps_limits(robot.model, q) and _is_clear(robot, q[::10]):
            return q
    raise ValueError(f"{robot.problem.name}: no feasible motion in {_TRIES} tries")


def _lead_out(fk: Fk, robot: Robot, poses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    n, poses = len(poses), poses.copy()
    s = np.clip((np.arange(n) / n - 0.3) / 0.2, 0.0, 1.0)
    s -= np.clip((np.arange(n) / n - 0.55) / 0.2, 0.0, 1.0)
    bump = s * s * (3.0 - 2.0 * s)
    for k, limb in enumerate(robot.model.limbs.values()):
        base = fk.data.oMf[fk.bases[k]].translation
        length = sum(np.linalg.norm(p) for p in (*limb.tree.p, limb.p_eef))
        way = poses[:, k, :3, 3] - base
        far = way / np.linalg.norm(way, axis=1)[:, None] * _BEYOND * length
        poses[:, k, :3, 3] += bump[:, None] * (far - way)
    kinds = np.where(np.arange(n) < 0.3 * n, 0, 1)
    kinds[np.arange(n) > 0.9 * n] = 2  # with time to recover
    return poses, kinds


def make_lines(robot: Robot, n_paths: int) -> Targets:
    """Return lines at 0.4 m/s between reachable poses."""
    rng, fk = make_rng(robot, "lines", 0), Fk(robot)
    low, high = _limits(robot.model)
    T, starts = [], []
    while len(T) < n_paths:
        q0 = rng.uniform(low, high)
        q1 = np.clip(q0 + rng.uniform(-_LINE_TURN, _LINE_TURN, len(low)), low, high)
        A, B = (pin.SE3(fk(q)[0]) for q in (q0, q1))
        length = float(np.linalg.norm(B.translation - A.translation))
        turn = np.linalg.norm(pin.log3(A.rotation.T @ B.rotation))
        if not 0.3 < length < 0.9 or turn > 2.0 or not _is_clear(robot, [q0, q1]):
            continue
        s = _trapezoid(length)
        w = pin.log3(A.rotation.T @ B.rotation)
        poses = np.tile(np.eye(4), (len(s), 1, 1, 1))
        for k, share in enumerate(s):
            poses[k, 0, :3, :3] = A.rotation @ pin.exp3(w * share)
            poses[k, 0, :3, 3] = (1 - share) * A.translation + share * B.translation
        T.append(poses)
        starts.append(q0)
    first = np.concatenate([[0], np.cumsum([len(t) for t in T])[:-1]])
    n = sum(len(t) for t in T)
    return Targets(np.concatenate(T), first, np.array(starts), np.full(n, 3))


def _trapezoid(length: float) -> np.ndarray:
    t_up = _LINE_SPEED / _LINE_ACCELERATION
    t_all = length / _LINE_SPEED + t_up
    t = np.arange(round((t_all + 0.3) / DT)) * DT
    v = np.minimum(_LINE_SPEED, _LINE_ACCELERATION * np.minimum(t, t_all - t))
    s = np.cumsum(np.maximum(v, 0.0)) * DT
    return s / s[-1]


def make_crossing(robot: Robot, n_paths: int) -> Targets:
    """Return crossings through the eefs' middle."""
    rng, fk = make_rng(robot, "crossing", 0), Fk(robot)
    home = fk(robot.model.home)
    middle = home[:, :3, 3].mean(axis=0)
    T, starts = [], []
    for k in range(n_paths):
        t = np.arange(round(6.0 / DT)) * DT
        up, down = np.clip((t - 0.2) / 1.2, 0, 1), np.clip((t - 3.0) / 1.2, 0, 1)
        s = _min_jerk(up) - _min_jerk(down)
        if k % 2:  # every second one jumps
            s = ((t > 0.2) & (t < 3.0)).astype(float)
        way = 1.25 * (middle - home[:, :3, 3]) + rng.uniform(
            -0.05, 0.05, (len(home), 3)
        )
        poses = np.tile(home, (len(t), 1, 1, 1))
        poses[:, :, :3, 3] += s[:, None, None] * way
        T.append(poses)
        starts.append(robot.model.home)
    n = len(T[0])
    kind = np.tile(np.where(t > 4.2, 2, 3), n_paths)
    return Targets(np.concatenate(T), np.arange(n_paths) * n, np.array(starts), kind)


def _min_jerk(x: np.ndarray) -> np.ndarray:
    return x**3 * (10.0 + x * (6.0 * x - 15.0))


def make_cold(robot: Robot, n: int, n_starts: int) -> tuple[Targets, np.ndarray]:
    """Return single targets, a twentieth out of reach, and restarts."""
    rng, fk = make_rng(robot, "cold", 0), Fk(robot)
    low, high = _limits(robot.model)
    poses, kinds = [], []
    limb = next(iter(robot.model.limbs.values()))
    length = sum(np.linalg.norm(p) for p in (*limb.tree.p, limb.p_eef))
    while len(poses) < n:
        T = fk(rng.uniform(low, high))
        is_out = len(poses) % 20 == 19
        if is_out:
            p = T[0, :3, 3]
            T[0, :3, 3] = p / np.linalg.norm(p) * _BEYOND * length
        poses.append(T)
        kinds.append(int(is_out))
    starts = rng.uniform(low, high, (n, n_starts, len(low)))
    starts[:, 0] = robot.model.home
    targets = Targets(
        np.array(poses),
        np.arange(n),
        np.tile(robot.model.home, (n, 1)),
        np.array(kinds),
    )
    return targets, starts
