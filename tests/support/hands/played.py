"""Writes files of motion, plays them through the offline leader."""

from __future__ import annotations

import numpy as np
from shared_data import find_shared

from paprle.contracts.types import SessionState
from paprle.leaders.offline.config import OfflineConfig
from paprle.leaders.offline.leader import Offline
from paprle.testing import ManualClock, make_feedback

TURN = np.array([0.1, 0.2, 0.3, np.sqrt(1 - 0.14)])  # x y z w, no two alike


def shared(name):
    return str(find_shared(f"motion/{name}"))


def write_csv(path, header, rows, end="\n"):
    lines = [header] + [",".join(repr(float(x)) for x in row) for row in rows]
    path.write_text("\n".join(lines) + end)
    return path


def make_joint_rows(t):
    t = np.asarray(t)
    return np.column_stack([t, np.sin(t), np.cos(t)])


def make_pose_rows(t):
    """A line at 0.1 m/s that turns at 0.5 rad/s about z, as t x y z qx qy qz qw."""
    t = np.asarray(t)
    half = 0.25 * t
    zero = np.zeros_like(t)
    return np.column_stack(
        [t, 0.1 * t, zero, zero, zero, zero, np.sin(half), np.cos(half)]
    )


POSE = "t,x,y,z,qx,qy,qz,qw"
T_GOOD = np.arange(100) * 0.02


def make_leader(path=None, clock=None, **settings):
    path = None if path is None else str(path)
    leader = Offline(OfflineConfig(path=path, **settings), clock or ManualClock())
    leader.open()
    return leader


def play(leader, dt=0.005, is_following=True):
    """Return times since engaging [s] and samples of one episode."""
    clock = leader.clock
    begin, samples = clock(), []
    is_engaged = True
    for _ in range(100_000):
        state = SessionState.ENGAGED if is_engaged else SessionState.CLUTCHED
        leader.apply(make_feedback(state))
        samples.append(leader.latest())
        if samples[-1].end:
            break
        if is_following:
            is_engaged = samples[-1].valid
        clock.advance(dt)
    return np.array([(s.stamp_ns - begin) * 1e-9 for s in samples]), samples


def positions(samples, limb="hand"):
    return np.array(
        [s.limbs[limb].T_leader_base_leader_eef.translation for s in samples]
    )
