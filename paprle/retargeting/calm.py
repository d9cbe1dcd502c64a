"""Limbs that look at a hand are calm: where their camera is counts before its turn.

Their targets are smooth, but an arm that has to turn its camera through a posture that
it can hardly leave asks its joints for all of V and A. Two things keep the picture from
being jerked there: the IK gives up angle before place, and it asks for a part of A, so
that the gate, which is a little late, never has to cut what it catches up with.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace

from paprle.contracts.settings import IkSettings, LimbIkSettings
from paprle.retargeting.pairing import Pairing
from paprle.robot import RobotModel

_ACCELERATION = 0.4  # chosen: of A; with all of it the command has 4 m/s² for 1 asked
_ROTATION_WEIGHT = 0.005  # [m/rad] chosen: with 0.02 thrice the jerk asked is sent


def calm_limbs(
    robot: RobotModel, ik: IkSettings, pairing: Pairing
) -> tuple[RobotModel, IkSettings]:
    """Return the robot and the settings with which an IK keeps limbs calm.

    Args:
        robot: The robot.
        ik: What the config asks for; what it says of such a limb counts.
        pairing: Who drives whom; limbs with rule ``look_at`` are to be calm.
    """
    looking = [name for name, pair in pairing.limbs.items() if pair.rule == "look_at"]
    if not looking:
        return robot, ik
    calm, ddq_max, limbs = copy(robot), robot.ddq_max.copy(), dict(ik.limbs)
    for name in looking:
        ddq_max[robot.limbs[name].indices] *= _ACCELERATION
        own = limbs.get(name, LimbIkSettings())
        if own.rotation_weight is None:
            limbs[name] = replace(own, rotation_weight=_ROTATION_WEIGHT)
    calm.ddq_max = ddq_max
    return calm, replace(ik, limbs=limbs)
