"""Followers with one device per limb."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass

import numpy as np

from paprle.contracts.errors import CommandError, DeviceError
from paprle.contracts.types import FollowerState, RobotInfo, Vec, readonly


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceState:
    """Newest state of one limb's device, vectors of (m,), [rad] or [m].

    ``ids`` are the joints' places in the robot; ``stamp_ns`` is on the session's clock.
    """

    limb: str
    ids: Sequence[int]
    stamp_ns: int
    q: Vec
    dq: Vec
    tau: Vec
    q_held: Vec
    stop_reason: str = ""


def assign_addresses(
    robot: RobotInfo, key: str, one: str, each: Mapping[str, str], example: str
) -> dict[str, str]:
    """Return the address of each limb's device, in the order of the limbs.

    Raises:
        DeviceError: If the limbs are not the robot's.
    """
    limbs = [limb.name for limb in robot.limbs]
    if len(limbs) == 1 and not each:
        return {limbs[0]: one}
    if sorted(each) != sorted(limbs):
        raise DeviceError(
            f"{key}: expected one of each limb ({', '.join(limbs)}), got "
            f"{', '.join(each) or 'none'}; write {key}.{limbs[0]}={example}"
        )
    return {name: each[name] for name in limbs}


def join_states(n: int, states: Sequence[DeviceState]) -> FollowerState:
    """Return the state of n joints, with the devices' oldest stamp."""
    q, dq, tau, held = np.zeros((4, n))
    for one in states:
        ids = list(one.ids)
        q[ids], dq[ids], tau[ids], held[ids] = one.q, one.dq, one.tau, one.q_held
    is_one = len(states) == 1
    reasons = [
        one.stop_reason if is_one else f"{one.limb}: {one.stop_reason}"
        for one in states
        if one.stop_reason
    ]
    return FollowerState(
        stamp_ns=min(one.stamp_ns for one in states),
        q=readonly(q),
        dq=readonly(dq),
        tau=readonly(tau),
        stop_reason="; ".join(reasons),
        q_held=readonly(held),
    )


def check_open(env: str, devices: Sized) -> None:
    """Raise DeviceError without open devices."""
    if not len(devices):
        raise DeviceError(
            f"env '{env}': expected an open follower, got a closed one; call open() "
            "first"
        )


def check_target(env: str, q_cmd: Vec, n: int) -> None:
    """Raise CommandError unless a target is n finite positions."""
    if q_cmd.shape != (n,) or not np.isfinite(q_cmd).all():
        raise CommandError(f"env '{env}': expected {n} finite positions, got {q_cmd}")
