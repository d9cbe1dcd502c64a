"""One hand's pose, grip and opening in a message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from paprle.hardware.web.axes import to_rep103
from paprle.hardware.web.hand import HandReading

Array = npt.NDArray[np.float64]

# spec: avp_stream, grpc_utils.py: joints in the wrist's frame; here knuckle to tip
_GRIPPING = ((11, 12, 13, 14), (16, 17, 18, 19))
_THUMB, _INDEX, _N_JOINTS = 4, 9, 25
_CLOSED, _OPEN_AGAIN = 0.70, 0.85  # chosen: a fist has 55 %, a straight finger 98 %
_SHUT, _WIDE = 0.015, 0.10  # [m] chosen: tips have a thickness; spec: PAPRLE's 10 cm
_NEAR_HEAD = 0.10  # [m] spec: PAPRLE: there it is a guess
_SKEW = 1e-2  # chosen: of a rotation in float32, with room
_MOST_SAME = 9  # chosen: 0.1 s at 90 Hz; a hand that is tracked is never so still
_NOWHERE = np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0])


class Wrist(NamedTuple):
    """Wrist's pose, headset's axes (y up).

    Attributes:
        p: Shape (3,), [m].
        quat_xyzw: Shape (4,).
    """

    p: Array
    quat_xyzw: Array


class HandReader:
    """Reader of a hand; a pose unchanged for a while is lost.

    Attributes:
        n_refused: Without valid wrist or all fingers.
    """

    def __init__(self) -> None:
        self._before: Array = np.zeros((4, 4))
        self._n_same = self._press = self.n_refused = 0
        self._is_held = False

    def read(self, hand: Any, head: Any) -> HandReading:
        """Return a hand's state."""
        matrix, joints = _read_matrix(hand.wristMatrix), _read_joints(hand)
        is_same = bool((matrix == self._before).all())
        self._n_same = self._n_same + 1 if is_same else 0
        self._before = matrix
        wrist = _find_pose(matrix)
        self.n_refused += wrist is None or joints is None
        p_head = _read_matrix(head)[:3, 3]
        is_near = bool(np.linalg.norm(matrix[:3, 3] - p_head) < _NEAR_HEAD)
        if wrist is None or joints is None or is_near or self._n_same >= _MOST_SAME:
            return HandReading(*_NOWHERE, False, self._is_held, self._press, None)
        self._grip(joints)
        gap = float(np.linalg.norm(joints[_THUMB] - joints[_INDEX]))
        opening = min(max((gap - _SHUT) / (_WIDE - _SHUT), 0.0), 1.0)
        p, quat_xyzw = to_rep103(wrist.p, wrist.quat_xyzw)
        return HandReading(
            p, quat_xyzw, True, self._is_held, self._press, opening, gap=gap
        )

    def _grip(self, joints: Array) -> None:
        shares = [_find_share(joints[list(finger)]) for finger in _GRIPPING]
        bound = _OPEN_AGAIN if self._is_held else _CLOSED
        holds = max(shares) < bound
        self._press += holds and not self._is_held
        self._is_held = holds


def _find_share(points: Array) -> float:
    length = float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())
    reach = float(np.linalg.norm(points[-1] - points[0]))
    return reach / length if length > 0.0 else 1.0


def _read_matrix(message: Any) -> Array:
    rows = [[getattr(message, f"m{r}{c}") for c in range(4)] for r in range(4)]
    return np.array(rows)


def _read_joints(hand: Any) -> Array | None:
    messages: Sequence[Any] = hand.skeleton.jointMatrices
    if len(messages) < _N_JOINTS:
        return None
    joints = np.array([[m.m03, m.m13, m.m23] for m in messages[:_N_JOINTS]])
    return joints if bool((np.abs(joints) < 1.0).all()) else None


def _find_pose(matrix: Array) -> Wrist | None:
    R, p = matrix[:3, :3], matrix[:3, 3]
    if not (np.isfinite(matrix).all() and np.abs(p).max() < 100.0):
        return None
    if np.abs(R @ R.T - np.eye(3)).max() > _SKEW or np.linalg.det(R) < 0.0:
        return None
    return Wrist(p, _find_quaternion(R))


def _find_quaternion(R: Array) -> Array:
    """Return a rotation's x, y, z, w, by the dominant eigenvector (Bar-Itzhack)."""
    (a, b, c), (d, e, f), (g, h, i) = R
    K = np.array([
        [a - e - i, 0.0, 0.0, 0.0],
        [d + b, e - a - i, 0.0, 0.0],
        [g + c, h + f, i - a - e, 0.0],
        [h - f, c - g, d - b, a + e + i],
    ]) / 3.0  # fmt: skip
    values, vectors = np.linalg.eigh(K)  # of the lower triangle
    q: Array = vectors[:, int(np.argmax(values))]
    return q if q[3] >= 0.0 else -q
