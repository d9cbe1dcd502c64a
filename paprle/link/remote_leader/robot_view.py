"""View of a session for the operator's host."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from paprle.contracts.gate_status import GATE_NUMBERS
from paprle.contracts.session_view import HeldHand, SessionView
from paprle.contracts.types import Feedback, GateState, SessionState, Vec

_HEAD = struct.Struct(f"<3q2B?2I{4 + len(GATE_NUMBERS)}f3H")
_MOST_TEXT = 600  # [bytes] chosen: reasons in words; the rest is cut
_APART = "\n"  # between the reasons and that of standing
_POSE = 7
_HELD = 21  # numbers of a ``HeldHand``, in their order
_LARGEST_SCALE = 100.0  # chosen: no hand leads a robot a hundred times its motion
_FARTHEST = 10.0  # [m] chosen: no hand reaches so far


class RobotView(NamedTuple):
    """Newest state of a session for its operator, in the robot's time.

    Attributes:
        captured_ns: Stamp of the newest capture, operator's time; 0: none.
        leader_age: Time since that capture arrived, [s].
        numbers: Quantities of the gate's status by name, to seven digits.
        q: Measured joints, shape (n,), [rad].
        targets: Requested T_base_eef by limb, shape (m, 7); NaN: none.
        standing: Reason that it stands although it is asked to move.
    """

    stamp_ns: int
    measured_ns: int
    captured_ns: int
    state: SessionState
    gate_state: GateState
    is_engaged: bool
    episode: int
    n_lost: int
    leader_age: float
    numbers: Mapping[str, Any]
    rumble: float
    touch: float
    warning: float
    q: Vec
    dq: Vec
    q_cmd: Vec
    targets: Vec
    holds: tuple[HeldHand, ...]
    why: str
    standing: str

    @property
    def is_held(self) -> bool:
        """Whether the gate holds or has stopped."""
        return self.gate_state in {GateState.HOLD, GateState.STOPPED}


def pack_view(
    view: SessionView, told: Feedback | None, captured_ns: int, n_lost: int = 0
) -> bytes:
    """Return the payload of a datagram."""
    words = (view.latched or ", ".join(view.reasons)).replace(_APART, " ")
    if told is not None and told.standing:
        words += f"{_APART}{told.standing}"
    head = _HEAD.pack(
        view.stamp_ns,
        view.measured_ns,
        captured_ns,
        int(view.state),
        int(view.gate_state),
        told is not None and told.is_engaged,
        view.episode,
        n_lost % 2**32,
        view.leader_age,
        *(getattr(view.status, name) for name in GATE_NUMBERS),
        *(0.0, 0.0, 0.0) if told is None else (told.rumble, told.touch, told.warning),
        len(view.q),
        len(view.targets),
        len(view.holds),
    )
    held = [np.hstack(one) for one in view.holds]
    rows = [view.q, view.dq, view.q_cmd, *view.targets.values(), *held]
    numbers = np.concatenate(rows).astype("<f4").tobytes()
    return head + numbers + words.encode()[:_MOST_TEXT]


def unpack_view(data: bytes) -> RobotView | None:
    """Return a payload's view; None if invalid."""
    if len(data) < _HEAD.size:
        return None
    (stamp_ns, measured_ns, captured_ns, *rest, n, m, h) = _HEAD.unpack_from(data)
    end = _HEAD.size + 4 * (3 * n + _POSE * m + _HELD * h)
    if len(data) < end:
        return None
    row = np.frombuffer(data[_HEAD.size : end], "<f4").astype(np.float64)
    state, gate_state, is_engaged, episode, n_lost, leader_age, *rest = rest
    n_numbers = len(GATE_NUMBERS)
    numbers = dict(zip(GATE_NUMBERS, rest[:n_numbers], strict=True))
    try:
        session, gate = SessionState(state), GateState(gate_state)
    except ValueError:
        return None
    stamps = stamp_ns, measured_ns, captured_ns
    levels = session, gate, is_engaged, episode, n_lost
    shares = leader_age, numbers, *rest[n_numbers:]
    joints = row[: 3 * n].reshape(3, n)
    targets = row[3 * n : 3 * n + _POSE * m].reshape(m, _POSE)
    holds = _read_held(row[3 * n + _POSE * m :].reshape(h, _HELD))
    if holds is None:
        return None
    why, _, standing = data[end:].decode(errors="replace").partition(_APART)
    words = why, standing
    return RobotView._make((*stamps, *levels, *shares, *joints, targets, holds, *words))


def _read_held(rows: Vec) -> tuple[HeldHand, ...] | None:
    share, p, scale = rows[:, 1], rows[:, 2:5], rows[:, 20]
    places = rows[:, [0, 15]]
    quats = rows[:, [*range(5, 9), *range(16, 20)]].reshape(-1, 4)
    is_bad = (
        not np.isfinite(rows).all()
        or (np.abs(p) > _FARTHEST).any()
        or (places < 0.0).any()
        or ((share < 0.0) | (share > 1.0)).any()
        or ((scale <= 0.0) | (scale > _LARGEST_SCALE)).any()
        or (np.abs(np.linalg.norm(quats, axis=1) - 1.0) > 0.01).any()
        or (np.abs(rows[:, 9:15]) > 1.01).any()  # parts of unit vectors
    )
    if is_bad:
        return None
    return tuple(
        HeldHand(
            limb=int(row[0]),
            share=float(row[1]),
            pose=row[2:9],
            way=row[9:15],
            driven=int(row[15]),
            turn=row[16:20],
            scale=float(row[20]),
        )
        for row in rows
    )
