"""One step of a camera that looks at a hand: smooth, upright, a little ahead.

Velocity, acceleration and jerk are bounded, of turns velocity and acceleration.
"""

from __future__ import annotations

import math

import numpy as np

from paprle.compiled import compiled, inlined
from paprle.contracts.types import Vec
from paprle.kinematics.pose import compute_log3

CAM, SEEN, TURN, SPIN, HAND, HAND_SPEED = 0, 9, 18, 27, 30, 33
"""Places in the state: position, velocity and acceleration of the camera and of what it
looks at, its rotation, its angular velocity in its own axes, where the hand was and how
fast, all in the world."""
N_STATE = 36
SPEED, ACCELERATION, JERK, SPIN_MAX, SPIN_RATE, AHEAD, NEAREST, FARTHEST = range(8)
"""Places in the bounds; ``AHEAD`` is how far ahead the hand is looked for, [s], and the
last two are how near and how far a camera may be by hand, [m]."""

_HAND_FILTER = 0.1  # [s] chosen: a third of the prediction; tremor is above 5 Hz
_SEEN_ACCELERATION, _SEEN_JERK = 10.0, 200.0  # chosen: what a person's hand does
_SEEN_SPEED = 2.0  # [m/s] chosen: likewise
_TURN_TIME = 0.15  # [s] chosen: a direction is met in half a second
_STEEP = 0.15  # [1] chosen: sine; steeper views keep the level that they had
_LEASH, _LEASH_TURN = 0.1, 0.5  # [m], [rad] chosen: as of limbs that axes drive
_NEAR = 0.01  # [m²] chosen: what is nearer goes by too fast to be followed
_LEAST = 1e-9  # [m] chosen: a shorter vector has no direction


@compiled
def step_look(  # noqa: PLR0913, PLR0917 - a tuple of arrays costs a microsecond
    state: Vec, hand: Vec, goal: Vec, zoom: float, T_cmd: Vec, bounds: Vec, dt: float
) -> None:
    """Move a camera on by dt, [s].

    ``state``, shape (36,), see ``CAM``, is changed; ``goal`` is the camera's, NaN:
    rest, ``zoom`` adds to its distance, [m]; ``hand`` and ``goal`` have shape (3,),
    [m], ``T_cmd`` (4, 4), ``bounds``, see ``SPEED``, (8,).
    """
    if not dt > 0.0:
        return
    wanted, still = np.empty(3), np.zeros(3)
    speed = state[HAND_SPEED : HAND_SPEED + 3]
    share = dt / (_HAND_FILTER + dt)
    for k in range(3):
        speed[k] += share * ((hand[k] - state[HAND + k]) / dt - speed[k])
        state[HAND + k] = hand[k]
        wanted[k] = hand[k] + bounds[AHEAD] * speed[k]
    seen, cam = state[SEEN : SEEN + 9], state[CAM : CAM + 9]
    _run_after(seen, wanted, speed, _SEEN_SPEED, _SEEN_ACCELERATION, _SEEN_JERK, dt)
    _find_place(cam, seen, goal, zoom, T_cmd, bounds, wanted)
    limits = bounds[SPEED], bounds[ACCELERATION], bounds[JERK]
    _run_after(cam, wanted, still, limits[0], limits[1], limits[2], dt)
    R = state[TURN : TURN + 9].reshape(3, 3)
    _turn(R, state[SPIN : SPIN + 3], cam, seen, T_cmd, bounds, dt)


@inlined
def _find_place(  # noqa: PLR0913, PLR0917 - a tuple of arrays costs a microsecond
    cam: Vec, seen: Vec, goal: Vec, zoom: float, T_cmd: Vec, bounds: Vec, wanted: Vec
) -> None:
    behind, far = 0.0, 0.0
    for k in range(3):
        wanted[k] = goal[k]
        behind += (cam[k] - T_cmd[k, 3]) ** 2
        far += (goal[k] - seen[k]) ** 2
    if behind > _LEASH * _LEASH:  # the arm does not come along: back to it
        for k in range(3):
            wanted[k] = T_cmd[k, 3]
        return
    far = math.sqrt(far)
    if zoom != 0.0 and far > _LEAST:
        asked = min(max(far + zoom, bounds[NEAREST]), bounds[FARTHEST])
        for k in range(3):
            wanted[k] = seen[k] + (goal[k] - seen[k]) * asked / far


@inlined
def _run_after(  # noqa: PLR0913, PLR0917 - a tuple of arrays costs a microsecond
    point: Vec, goal: Vec, along: Vec, V: float, A: float, J: float, dt: float
) -> None:
    """Move ``point`` (9,): p, v, a, after a moving goal; NaN: to rest."""
    soon = max(A / J, 2.0 * dt)  # in which the acceleration turns round
    slow, later = 2.5 * soon, 7.0 * soon  # cascade: each loop much slower than its own
    step = np.zeros(3)
    distance = 0.0
    for k in range(3):
        step[k] = goal[k] - point[k]
        distance += step[k] * step[k]
    distance = math.sqrt(distance)
    share = 0.0  # NaN: come to rest
    if distance >= 0.0:
        share = min(1.0 / later, math.sqrt(0.5 * A / max(distance, _LEAST)))
        share = min(share, V / max(distance, _LEAST))
    size, change = 0.0, 0.0
    for k in range(3):
        wish = share * step[k] + along[k] if share > 0.0 else 0.0
        step[k] = (wish - point[3 + k]) / slow
        size += step[k] * step[k]
    most = min(1.0, A / max(math.sqrt(size), _LEAST))
    for k in range(3):
        step[k] = (most * step[k] - point[6 + k]) / soon
        change += step[k] * step[k]
    most = min(1.0, J / max(math.sqrt(change), _LEAST)) * dt
    size = 0.0
    for k in range(3):
        point[6 + k] += most * step[k]
        size += point[6 + k] ** 2
    most = min(1.0, A / max(math.sqrt(size), _LEAST))
    for k in range(3):
        point[6 + k] *= most
        point[k] += (point[3 + k] + 0.5 * point[6 + k] * dt) * dt
        point[3 + k] += point[6 + k] * dt


@inlined
def _turn(  # noqa: PLR0913, PLR0917 - a tuple of arrays costs a microsecond
    R: Vec, spin: Vec, cam: Vec, seen: Vec, T_cmd: Vec, bounds: Vec, dt: float
) -> None:
    R_wish, R_off, off = np.empty((3, 3)), np.empty((3, 3)), np.empty(3)
    _compare(R, T_cmd, R_off)
    compute_log3(R_off, off)
    if _measure(off) > _LEASH_TURN:  # the arm does not come along: back to it
        _keep(T_cmd, R_wish)
    else:
        _look(R, cam, seen, R_wish)
    _compare(R, R_wish, R_off)
    compute_log3(R_off, off)
    angle = max(_measure(off), _LEAST)
    share = min(1.0 / _TURN_TIME, math.sqrt(bounds[SPIN_RATE] / angle))
    x, y, z = seen[0] - cam[0], seen[1] - cam[1], seen[2] - cam[2]
    u, v, w = seen[3] - cam[3], seen[4] - cam[4], seen[5] - cam[5]
    square = max(x * x + y * y + z * z, _NEAR)
    # what goes by is followed without a lag: ω = d × v / d²
    x, y, z = (
        (y * w - z * v) / square,
        (z * u - x * w) / square,
        (x * v - y * u) / square,
    )
    for k in range(3):
        off[k] = share * off[k] + R[0, k] * x + R[1, k] * y + R[2, k] * z
    share = min(1.0, bounds[SPIN_MAX] / max(_measure(off), _LEAST))
    for k in range(3):
        off[k] = share * off[k] - spin[k]
    most = min(1.0, bounds[SPIN_RATE] * dt / max(_measure(off), _LEAST))
    for k in range(3):
        spin[k] += most * off[k]
        off[k] = spin[k] * dt
    _spin(R, off, R_off)


@inlined
def _look(R: Vec, cam: Vec, seen: Vec, R_wish: Vec) -> None:
    x, y, z = seen[0] - cam[0], seen[1] - cam[1], seen[2] - cam[2]
    far = math.sqrt(x * x + y * y + z * z)
    if far < _LEAST:
        _keep(R, R_wish)
        return
    x, y, z = x / far, y / far, z / far
    level = math.hypot(x, y)
    # level is (y, −x, 0); straight down it is nowhere, and what it was before counts
    keep, share = max(_STEEP - level, 0.0), min(level / _STEEP, 1.0) ** 2
    along = R[0, 0] * x + R[1, 0] * y + R[2, 0] * z
    a = share * y + keep * (R[0, 0] - along * x)
    b = -share * x + keep * (R[1, 0] - along * y)
    c = keep * (R[2, 0] - along * z)
    size = math.sqrt(a * a + b * b + c * c)
    if size < _LEAST:
        _keep(R, R_wish)
        return
    a, b, c = a / size, b / size, c / size
    R_wish[0, 0], R_wish[1, 0], R_wish[2, 0] = a, b, c
    R_wish[0, 1] = y * c - z * b
    R_wish[1, 1] = z * a - x * c
    R_wish[2, 1] = x * b - y * a
    R_wish[0, 2], R_wish[1, 2], R_wish[2, 2] = x, y, z


@inlined
def _keep(R: Vec, out: Vec) -> None:
    for a in range(3):
        for b in range(3):
            out[a, b] = R[a, b]


@inlined
def _compare(R: Vec, S: Vec, out: Vec) -> None:
    for a in range(3):
        for b in range(3):
            out[a, b] = R[0, a] * S[0, b] + R[1, a] * S[1, b] + R[2, a] * S[2, b]


@inlined
def _measure(w: Vec) -> float:
    return math.sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2])


@inlined
def _spin(R: Vec, w: Vec, scratch: Vec) -> None:
    for a in range(3):  # R (1 + w× + w×²/2), w×² = w wᵀ − |w|²
        along = R[a, 0] * w[0] + R[a, 1] * w[1] + R[a, 2] * w[2]
        for b in range(3):
            i, j = (b + 1) % 3, (b + 2) % 3
            turned = R[a, i] * w[j] - R[a, j] * w[i]
            square = w[0] * w[0] + w[1] * w[1] + w[2] * w[2]
            scratch[a, b] = R[a, b] + turned + 0.5 * (along * w[b] - square * R[a, b])
    _keep(scratch, R)
    for k in range(3):  # Gram–Schmidt: rounding does not add up
        for other in range(k):
            dot = R[0, k] * R[0, other] + R[1, k] * R[1, other] + R[2, k] * R[2, other]
            for a in range(3):
                R[a, k] -= dot * R[a, other]
        size = math.sqrt(R[0, k] ** 2 + R[1, k] ** 2 + R[2, k] ** 2)
        for a in range(3):
            R[a, k] /= size
