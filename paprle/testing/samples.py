"""Checks of leader samples."""
# ruff: noqa: S101 - checks of a test suite

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin

from paprle.contracts.axes import N_AXES
from paprle.contracts.types import (
    Feedback,
    LeaderInfo,
    LeaderSample,
    LimbCommand,
    SessionState,
    Vec,
)

_UNIT = 1e-9  # chosen: rounding of a rotation matrix, not an error of a device


def make_feedback(
    state: SessionState, *, stamp_ns: int = 0, episode: int = 0
) -> Feedback:
    """Return the feedback of a session state."""
    return Feedback(
        stamp_ns=stamp_ns,
        state=state,
        episode=episode,
        is_engaged=state is SessionState.ENGAGED,
    )


def check_info(info: LeaderInfo) -> None:
    """Check that a leader's info is complete."""
    assert info.limbs, "a leader has at least one limb"
    assert len(set(info.limbs)) == len(info.limbs), "limb names are unique"
    assert info.emits in {"joints", "pose", "axes"}
    assert info.renders in {"none", "rumble", "sound", "torque"}
    assert info.rate > 0
    assert info.look_ahead >= 0
    if info.emits == "joints":
        assert set(info.joint_names) == set(info.limbs), "joint names for each limb"
        assert all(info.joint_names.values()), "no limb without joints"
    else:
        assert not info.joint_names, "only leaders of joints have joint names"
    if info.emits == "axes":
        assert set(info.axes) == set(info.limbs), "names of axes for each limb"
        assert all(0 < len(own) <= N_AXES for own in info.axes.values())
        assert all(0 < speed < math.inf for speed in info.axis_speeds)
    else:
        assert set(info.axes) < set(info.limbs), "all limbs have axes: it emits axes"


def check_sample(info: LeaderInfo, sample: LeaderSample) -> None:
    """Check a sample against its declaration."""
    assert set(sample.limbs) <= set(info.limbs)
    assert isinstance(sample.stamp_ns, int)
    assert isinstance(sample.seq, int)
    if sample.valid:
        assert set(sample.limbs) == set(info.limbs), "a valid sample has all limbs"
    for limb, command in sample.limbs.items():
        _check_command(info, limb, command)
    if sample.leader_state is not None:
        _check_vector(sample.leader_state.q, len(sample.leader_state.joint_names))


def _check_command(info: LeaderInfo, limb: str, command: LimbCommand) -> None:
    if info.emits == "joints":
        assert command.T_leader_base_leader_eef is None
        assert command.q is not None
        _check_vector(command.q, len(info.joint_names[limb]))
    elif info.emits_axes(limb):
        assert command.T_leader_base_leader_eef is None
        assert command.q is None
        assert command.axes is not None
        _check_vector(command.axes, len(info.axes[limb]))
        assert np.abs(command.axes).max() <= 1.0, "deflections are in [-1, 1]"
    else:
        assert command.q is None
        T = command.T_leader_base_leader_eef
        assert isinstance(T, pin.SE3)
        assert np.isfinite(T.homogeneous).all()
        assert np.abs(T.rotation.T @ T.rotation - np.eye(3)).max() < _UNIT
        assert np.linalg.det(T.rotation) > 0
    if not info.has_gripper:
        assert command.opening is None, "declare has_gripper"
    elif command.opening is not None:
        assert math.isfinite(command.opening)
        assert 0 <= command.opening <= 1


def _check_vector(values: Vec, n: int) -> None:
    assert values.dtype == np.float64
    assert values.shape == (n,)
    assert np.isfinite(values).all()
    assert not values.flags.writeable, "arrays in samples are read-only"
