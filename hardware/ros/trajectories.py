"""Trajectories as bytes, one layout per form."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from paprle.hardware.ros.joints import Trajectory, Vec, decode_trajectory
from paprle.hardware.ros.messages import JOINT_TRAJECTORY, Codec

_FORMS = 256  # chosen: 16 topics with as many numbers of points
_WORD = 8  # spec: IEEE 754, and two integers of a ROS time or duration
_STAMP_NS = 987_654_321_123_456_789  # [ns] chosen: no other number of a mark
_POINT = "trajectory_msgs/msg/JointTrajectoryPoint"


def encode_trajectory(codec: Codec, trajectory: Trajectory) -> bytes:
    """Return a JointTrajectory."""
    k, has_dq = len(trajectory.times), trajectory.dq is not None
    return _find_form(codec, trajectory.names, k, has_dq).fill(trajectory)


class TrajectoryReader:
    """Reader of one topic."""

    def __init__(self) -> None:
        self._forms: dict[int, _Form] = {}

    def read(self, codec: Codec, data: bytes) -> Trajectory:
        """Return a JointTrajectory, as ``decode_trajectory`` does.

        Raises:
            MessageError: Invalid, empty, or points with gaps.
        """
        form = self._forms.get(len(data))
        found = None if form is None else form.read(data)
        if found is None:
            found = decode_trajectory(codec, data)
            k, has_dq = len(found.times), found.dq is not None
            self._forms[len(data)] = _find_form(codec, found.names, k, has_dq)
        return found


class _Form:
    def __init__(
        self, codec: Codec, names: tuple[str, ...], k: int, has_dq: bool
    ) -> None:
        self._names, self._k, self._has_dq = names, k, has_dq
        n, rng = len(names), np.random.default_rng(0)
        q, dq = rng.random((2, k, n))
        times: Vec = 1.1 + np.arange(k, dtype=np.float64)
        marks = Trajectory(names, times, q, dq if has_dq else None, _STAMP_NS)
        data = _lay_out(codec, marks)
        words = _list_words(marks).view("V8")
        starts = np.array([data.index(word.tobytes()) for word in words], dtype=np.intp)
        self._places = (starts[:, None] + np.arange(_WORD)).ravel()
        self._bytes = np.frombuffer(data, dtype=np.uint8)
        self._others = np.delete(np.arange(len(data)), self._places)

    def fill(self, trajectory: Trajectory) -> bytes:
        filled = self._bytes.copy()
        filled[self._places] = _list_words(trajectory).view(np.uint8)
        return filled.tobytes()

    def read(self, data: bytes) -> Trajectory | None:
        given, k = np.frombuffer(data, dtype=np.uint8), self._k
        if given.size != self._bytes.size:
            return None
        if (given[self._others] != self._bytes[self._others]).any():
            return None
        words = given[self._places].view("<f8")
        seconds, nanoseconds = words[: 1 + k].view("<i4").reshape(-1, 2).T
        times = (seconds + 1e-9 * nanoseconds)[1:]
        if seconds.min() < 0 or not (times[1:] > times[:-1]).all():
            return None
        numbers = words[1 + k :].reshape(-1, k, len(self._names))
        dq = numbers[1] if self._has_dq else None
        stamp_ns = int(seconds[0]) * 10**9 + int(nanoseconds[0])
        return Trajectory(self._names, times, numbers[0], dq, stamp_ns)


_find_form = lru_cache(maxsize=_FORMS)(_Form)


def _list_words(trajectory: Trajectory) -> Vec:
    q, dq = trajectory.q, trajectory.dq
    k, m = len(q), q.size
    words = np.empty(1 + k + (m if dq is None else 2 * m), dtype="<f8")
    times_ns = np.empty(1 + k, dtype=np.int64)
    times_ns[0] = trajectory.stamp_ns
    times_ns[1:] = np.rint(trajectory.times * 1e9)
    pairs = words[: 1 + k].view("<u4")
    pairs[0::2], pairs[1::2] = np.divmod(times_ns, 10**9)
    words[1 + k : 1 + k + m] = q.ravel()
    if dq is not None:
        words[1 + k + m :] = dq.ravel()
    return words


def _lay_out(codec: Codec, trajectory: Trajectory) -> bytes:
    empty: npt.NDArray[np.float64] = np.empty((len(trajectory.q), 0))
    dq = empty if trajectory.dq is None else trajectory.dq
    points = [
        codec.make(
            _POINT,
            positions=np.ascontiguousarray(positions),
            velocities=np.ascontiguousarray(velocities),
            time_from_start=_make_duration(codec, round(t * 1e9)),
        )
        for t, positions, velocities in zip(
            trajectory.times.tolist(), trajectory.q, dq, strict=True
        )
    ]
    message = codec.make(
        JOINT_TRAJECTORY,
        header=codec.make_header(trajectory.stamp_ns),
        joint_names=list(trajectory.names),
        points=points,
    )
    return codec.encode(message, JOINT_TRAJECTORY)


def _make_duration(codec: Codec, t_ns: int) -> Any:
    kind = "builtin_interfaces/msg/Duration"
    return codec.make(kind, sec=t_ns // 10**9, nanosec=t_ns % 10**9)
