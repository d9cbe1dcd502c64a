"""The set of velocities from which a joint can still stop; closed form, per joint.

Time is discrete: commands are c_k, v_k = (c_k − c_{k−1})/h, and braking takes A·h off
the speed each period. All functions are pure and work on arrays.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paprle.types import RobotInfo, Vec

Mask = npt.NDArray[np.bool_]

_ROUNDING = 1e-9  # chosen: far above rounding, far below anything that moves
_FAR = 1e6  # [rad] chosen: stands for "no limit"; keeps the closed form finite


def compute_stopping_speed(distance: Vec, ddq_max: Vec, h: float) -> Vec:
    """Return the highest speed that still stops within a distance.

    Braking from v that starts in the next period covers
    S(v) = (n + 1) v h − A h² n(n + 1)/2 with n = ⌊v/(A h)⌋, this period's step
    included. S is continuous and monotone; this is its inverse,
    v = (d + A h² n(n + 1)/2) / ((n + 1) h), n = ⌊(√(1 + 8 d/(A h²)) − 1)/2⌋.
    The textbook √(2 A d) overshoots.

    Args:
        distance: Distance to the bound, shape (n,), [rad]; negative counts as 0.
        ddq_max: Acceleration limit A, shape (n,), [rad/s²].
        h: Period, [s].

    Returns:
        Speeds, shape (n,), [rad/s], never more than ``distance / h``.

    References:
        docs/SAFETY.md, V1.
    """
    d = np.minimum(np.maximum(distance, 0.0), _FAR)
    unit = ddq_max * (h * h)
    n = np.floor((np.sqrt(1.0 + 8.0 * d / unit) - 1.0) / 2.0)
    speed: Vec = (d + unit * n * (n + 1.0) / 2.0) / ((n + 1.0) * h)
    return speed


def compute_braking_velocity(v: Vec, ddq_max: Vec, h: float) -> Vec:
    """Return the velocity after one period of full braking, shape (n,)."""
    braked: Vec = np.copysign(np.maximum(np.abs(v) - ddq_max * h, 0.0), v)
    return braked


class Groups:
    """Joints that keep a common direction: each limb; every other joint by itself.

    Attributes:
        is_arm: Which joints are no grippers, shape (n,).
    """

    def __init__(self, robot: RobotInfo) -> None:
        index = {name: i for i, name in enumerate(robot.joint_names)}
        members: list[list[int]] = []
        seen: set[int] = set()
        self.is_arm = np.ones(len(index), dtype=bool)
        for limb in robot.limbs:
            members.append([index[n] for n in limb.joint_names if index[n] not in seen])
            seen.update(members[-1])
            if limb.gripper is not None:
                self.is_arm[index[limb.gripper.joint]] = False
        members += [[i] for i in index.values() if i not in seen]
        members = [group for group in members if group]
        self._order = np.array([i for group in members for i in group], dtype=np.intp)
        sizes = [len(group) for group in members]
        self._starts = np.cumsum([0, *sizes[:-1]])
        self._group_of = np.empty(len(index), dtype=np.intp)
        self._group_of[self._order] = np.repeat(np.arange(len(sizes)), sizes)

    def min(self, values: Vec) -> Vec:
        """Return the smallest value of each joint's group, shape (n,)."""
        smallest: Vec = np.minimum.reduceat(values[self._order], self._starts)
        return smallest[self._group_of]

    def max(self, values: Vec) -> Vec:
        """Return the largest value of each joint's group, shape (n,)."""
        return -self.min(-values)

    def limit_along(
        self, wanted: Vec, base: Vec, lower: Vec, upper: Vec
    ) -> tuple[Vec, Mask]:
        """Return what comes nearest to a velocity inside a box, keeping its direction.

        The largest t in [0, 1] with t · wanted inside the box keeps the direction of a
        group exactly. Where no t is inside (the motion is turning), base +
        s (wanted − base) with the largest s is taken instead: ``base`` is full braking,
        which is always inside, so there is always an answer.

        Args:
            wanted: Wanted velocity, shape (n,), [rad/s].
            base: Full braking, inside the box, shape (n,), [rad/s].
            lower: Lower corner of the box, shape (n,).
            upper: Upper corner of the box, shape (n,).

        Returns:
            The velocity, and which joints got the wanted one.
        """
        is_forward, rests = wanted > 0.0, wanted == 0.0
        scale = np.where(rests, 1.0, wanted)
        far = np.where(is_forward, upper, lower) / scale
        near = np.where(is_forward, lower, upper) / scale
        # a joint that should rest allows any t if resting is inside, and none if not
        allows = (lower <= 0.0) & (upper >= 0.0)
        t_max = self.min(np.where(rests, np.where(allows, 1.0, -1.0), far))
        t_min = self.max(np.where(rests, 0.0, near))
        t = np.minimum(t_max, 1.0)
        # where braking begins, wanted stands on the edge of the box but for rounding
        keeps = (t >= np.maximum(t_min, 0.0) - _ROUNDING) & (t_max >= 0.0)
        step = wanted - base
        room = np.where(step > 0.0, upper, lower) - base
        turns = np.abs(step) > _ROUNDING * np.maximum(np.abs(base), 1e-3)
        shares = np.where(turns, room / np.where(turns, step, 1.0), 1.0)
        s = np.clip(self.min(shares), 0.0, 1.0)
        v = np.where(keeps, t * wanted, base + s * step)
        is_wanted = np.where(keeps, t, s) >= 1.0 - _ROUNDING
        return np.minimum(np.maximum(v, lower), upper), is_wanted
