"""The judge lets a right limiter pass, and catches filters in use and 30 wrong ones.

Safety.md 5.1, 2: the closed form of V1 is written here once more, sharing no line with
the gate, and broken by hand in 30 places.
"""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from paprle.oracle import JudgedLimits, check_commands

H = 0.005  # [s]
N_LIMBS = 40  # of two joints each, all at once
V = np.array([2.0, 1.0])
A = np.array([10.0, 4.0])
LOW, HIGH = np.array([-1.0, -0.5]), np.array([0.5, 1.0])
BAD = (np.nan, np.inf, -np.inf, 1e308, -1e308, 1e30, 5e-324)


def find_stop(d, a):
    """Return the speed from which a joint just stops within d."""
    d = np.maximum(d, 0.0)
    n = np.floor((np.sqrt(1.0 + 8.0 * d / (a * H * H)) - 1.0) / 2.0)
    return (d + a * H * H * n * (n + 1.0) / 2.0) / ((n + 1.0) * H)


def limit(target, c, v):
    """Return the next velocity: joints of a limb in one scale, from brake to wish."""
    brake = np.sign(v) * np.maximum(np.abs(v) - A * H, 0.0)
    is_good = np.isfinite(target).all(axis=1, keepdims=True)
    wish = (np.minimum(np.maximum(target, LOW), HIGH) - c) / H
    wish = np.where(is_good, wish, brake)
    speed = np.maximum(V, np.abs(brake))
    high = np.minimum(np.minimum(speed, v + A * H), find_stop(HIGH - c, A))
    low = np.maximum(np.maximum(-speed, v - A * H), -find_stop(c - LOW, A))
    room = np.where(wish > brake, high - brake, low - brake)
    change = np.where(wish == brake, 1.0, wish - brake)
    share = np.where(wish == brake, 1.0, room / change)
    s = np.clip(share.min(axis=1, keepdims=True), 0.0, 1.0)
    return brake + s * (wish - brake)


def step(target, c, v, measured):  # noqa: ARG001 - some mutants go by what is measured
    """Return the next command."""
    return c + H * limit(target, c, v)


def tick(k):
    """Return when command k is sent, [ns]."""
    return round(k * H * 1e9)


SOURCE = "".join(inspect.getsource(part) for part in (find_stop, limit, step, tick))
MUTANTS = [
    # viability
    ("np.minimum(np.minimum(speed, v + A * H), find_stop(HIGH - c, A))",
     "np.minimum(speed, v + A * H)"),
    ("np.maximum(np.maximum(-speed, v - A * H), -find_stop(c - LOW, A))",
     "np.maximum(-speed, v - A * H)"),
    ("find_stop(HIGH - c, A)", "np.sqrt(2.0 * A * np.maximum(HIGH - c, 0.0))"),
    ("find_stop(HIGH - c, A)", "np.maximum(HIGH - c, 0.0) / H"),
    ("find_stop(HIGH - c, A)", "find_stop(HIGH - c, 1.1 * A)"),
    ("find_stop(c - LOW, A)", "find_stop(c - LOW + 1e-6, A)"),
    ("find_stop(HIGH - c, A)", "find_stop(c - LOW, A)"),
    # off by one period
    ("/ ((n + 1.0) * H)", "/ (n * H + 1e-12)"),
    ("n * (n + 1.0) / 2.0", "n * (n + 2.0) / 2.0"),
    ("n * (n + 1.0) / 2.0", "(n + 1.0) * (n + 2.0) / 2.0"),
    ("c + H * limit(target, c, v)", "c + H * limit(target, c - H * v, v)"),
    ("return c + H * limit(target, c, v)", "return c + 2.0 * H * limit(target, c, v)"),
    # acceleration and velocity
    ("np.minimum(speed, v + A * H)", "speed"),
    ("np.maximum(-speed, v - A * H)", "-speed"),
    ("np.abs(v) - A * H", "np.abs(v) - 2.0 * A * H"),
    ("np.sign(v) * np.maximum(np.abs(v) - A * H, 0.0)", "0.0 * v"),
    ("v + A * H", "v + A"),
    ("v - A * H", "v - 1.01 * A * H"),
    ("v + A * H", "np.abs(v) + A * H"),
    ("speed = np.maximum(V, np.abs(brake))", "speed = 1.001 * V"),
    ("np.maximum(V, np.abs(brake))", "np.maximum(V, np.abs(v) + A * H)"),
    ("speed = np.maximum(V, np.abs(brake))", "speed = V[::-1] + 0.0 * v"),
    # scale
    ("share.min(axis=1, keepdims=True)", "share.max(axis=1, keepdims=True)"),
    ("np.clip(share.min(axis=1, keepdims=True), 0.0, 1.0)", "1.0"),
    ("share.min(axis=1, keepdims=True)", "share[:, :1]"),
    ("brake + s * (wish - brake)", "s * wish"),
    # input, measured state, catching up
    ("np.isfinite(target).all", "np.isfinite(target).any"),
    ("np.where(is_good, wish, brake)", "1.0 * wish"),
    ("return c + H * limit(target, c, v)",
     "return measured + H * limit(target, measured, v)"),
    ("return round(k * H * 1e9)", "return round((k - (k % 50 == 1) * 0.9) * H * 1e9)"),
]  # fmt: skip


def draw_targets(seed, spoil=0.02):
    """Return square waves, points and edges, shape (steps, limbs, 2); some are NaN."""
    rng, n = np.random.default_rng(seed), 80
    shape = (n, N_LIMBS, 2)
    ends = rng.uniform(3 * LOW, 3 * HIGH, (2, N_LIMBS, 2))
    square = ends[np.arange(n) // rng.integers(10, 40) % 2]
    points = rng.uniform(2 * LOW, 2 * HIGH, shape)
    edges = np.nextafter(np.where(rng.random(shape) < 0.5, LOW, HIGH), [9.0, -9.0])
    held = np.repeat(points[:1], 2 * n, axis=0)
    targets = np.concatenate([held, square, points, np.repeat(edges[:2], n, axis=0)])
    bad = rng.random(targets.shape) < spoil
    targets[bad] = rng.choice(BAD, bad.sum())
    return targets


def judge(parts, targets):
    """Play a limiter, and return the verdict."""
    c, v, measured = (np.zeros((N_LIMBS, 2)) for _ in range(3))
    sent = []
    with np.errstate(all="ignore"):
        for target in targets:
            after = parts["step"](target, c, v, measured)
            c, v = after, (after - c) / H
            measured = measured + 0.2 * (c - measured)  # a servo that lags
            sent.append(c.ravel())
    low, high, speed, change = (np.tile(part, N_LIMBS) for part in (LOW, HIGH, V, A))
    limits = JudgedLimits(q_min=low, q_max=high, dq_max=speed, ddq_max=change, h=H)
    t_ns = [parts["tick"](k) for k in range(len(sent))]
    return check_commands(np.array(sent), limits, t_ns=t_ns, q_start=0.0 * low)


def make(old="", new=""):
    """Return the limiter, with one part of its source replaced."""
    parts = dict(globals())
    exec(SOURCE.replace(old, new) if old else SOURCE, parts)
    return parts


@pytest.mark.parametrize("seed", range(3))
def test_the_closed_form_is_let_pass(seed):
    verdict = judge(make(), draw_targets(seed))

    assert verdict.is_ok, str(verdict)


def test_thirty_mutants_are_made():
    assert len(set(MUTANTS)) == 30
    assert all(old in SOURCE for old, _ in MUTANTS)


@pytest.mark.parametrize(("old", "new"), MUTANTS)
def test_every_mutant_is_caught(old, new):
    assert not judge(make(old, new), draw_targets(0)).is_ok


def clip_of_velocity(target, c, v):  # noqa: ARG001
    """ARBot, equation 2, without rows: a box of velocities."""
    return c + H * np.clip((target - c) / H, -V, V)


def clip_of_joints_and_steps(target, c, v):  # noqa: ARG001
    """PAPRLE: the target within the limits, then the step within V."""
    return c + np.clip(np.clip(target, LOW, HIGH) - c, -V * H, V * H)


def clip_by_speed_of_now(target, c, v):
    """ros2_control, positions: |v| + A h both ways."""
    speed = np.minimum(np.abs(v) + A * H, V)
    return np.clip(np.clip(target, c - speed * H, c + speed * H), LOW, HIGH)


def three_clamps(target, c, v):
    """Clamp velocity, then acceleration, then position."""
    wish = np.clip(np.clip((target - c) / H, -V, V), v - A * H, v + A * H)
    return np.clip(c + H * wish, LOW, HIGH)


def textbook(target, c, v):
    """Clamp to what stops by sqrt(2 A d)."""
    up = np.sqrt(2.0 * A * np.maximum(HIGH - c, 0.0))
    down = np.sqrt(2.0 * A * np.maximum(c - LOW, 0.0))
    wish = np.clip(np.clip((target - c) / H, -V, V), v - A * H, v + A * H)
    return c + H * np.clip(wish, -down, up)


FILTERS = [
    clip_of_velocity,
    clip_of_joints_and_steps,
    clip_by_speed_of_now,
    three_clamps,
    textbook,
]


@pytest.mark.parametrize("law", FILTERS, ids=lambda law: law.__name__)
def test_filters_in_use_are_caught_on_finite_targets_too(law):
    parts = {"step": lambda target, c, v, _: law(target, c, v), "tick": tick}

    verdict = judge(parts, draw_targets(1, spoil=0.0))

    assert verdict.counts["M4"] + verdict.counts["V1"] > 0


def test_a_clip_of_each_joint_alone_keeps_every_limit_but_not_the_direction():
    target, rest = np.array([[0.4, 0.9]]), np.zeros((1, 2))

    one_scale = limit(target, rest, rest)[0]
    apart = np.clip(target[0] / H, -A * H, A * H)

    assert one_scale[1] / one_scale[0] == pytest.approx(0.9 / 0.4)
    assert apart[1] / apart[0] != pytest.approx(0.9 / 0.4)
