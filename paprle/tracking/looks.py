"""The numbers that tracking is judged by, as a recording has them."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np

from paprle.contracts.types import SessionState, Vec
from paprle.ipc.held import read_held
from paprle.ipc.records import Record
from paprle.recording.messages.channels import REPORT_BITS, VELOCITY_BITS
from paprle.recording.messages.fields import cut
from paprle.robot.arrays import Ints

LOOK_NS = 100_000_000  # [ns] chosen: twice as often as a person reads
LOOK = LOOK_NS * 1e-9  # [s]
N_LOOKS = 6  # chosen: half a second, the longest lag that a report tells


class Look(NamedTuple):
    """Request of a tick, and the command of the gate by then.

    Attributes:
        stamp_ns: Time of the tick, [ns].
        state: The session's.
        silent_ns: Since the newest sample arrived, [ns].
        driver: The leader's limb that drives each limb; -1: none, shape (m,).
        target: Pose rows of T_base_eef that limbs are asked for, shape (m, 7).
        is_far: 1 where ``retarget.max_travel`` shortened what was asked, shape (m,).
        err_pos: Distance that the IK left, shape (m,), [m]; NaN: no pose was asked.
        err_rot: Angle that it left, shape (m,), [rad].
        q_des: Joints that were asked of the gate, shape (n,), [rad] or [m].
        dq_des: Their velocity.
        reasons: Bits of the gate's reasons.
        q_cmd: Joints that it sent.
        dq_cmd: Their velocity.
        q_meas: Joints that were measured.
        held: Why the gate keeps limbs back, in words; empty: it names no cause.
    """

    stamp_ns: int
    state: SessionState
    silent_ns: int
    driver: Ints
    target: Vec
    is_far: Vec
    err_pos: Vec
    err_rot: Vec
    q_des: Vec
    dq_des: Vec
    reasons: int
    q_cmd: Vec
    dq_cmd: Vec
    q_meas: Vec
    held: str = ""


def is_due(stamp_ns: int, before_ns: int) -> bool:
    """Whether a tick is looked at, by its stamp and that of the tick before, [ns]."""
    return stamp_ns // LOOK_NS != before_ns // LOOK_NS


def make_look(tick: Record, status: Record) -> Look:
    """Copy the numbers of a tick and of the status that it saw, as precise as recorded.

    Args:
        tick: A record of ``Layout.tick``.
        status: A record of ``Layout.status``.

    Returns:
        The copy.
    """
    return Look(
        stamp_ns=int(tick["stamp_ns"]),
        state=SessionState(int(tick["state"])),
        silent_ns=int(tick["sample_age_ns"]),
        driver=np.array(tick["driver"], dtype=np.int64),
        target=np.array(tick["target"]),
        is_far=np.array(tick["is_far"]),
        err_pos=cut(tick["err_pos"], REPORT_BITS),
        err_rot=cut(tick["err_rot"], REPORT_BITS),
        q_des=np.array(tick["q_des"]),
        dq_des=np.array(tick["dq_des"]),
        reasons=int(status["reasons"]),
        q_cmd=np.array(status["q_cmd"]),
        dq_cmd=cut(status["dq_cmd"], VELOCITY_BITS),
        q_meas=np.array(status["q_meas"]),
        held="; ".join(dict.fromkeys(read_held(status).values())),
    )


class History:
    """The newest looks at one engagement, the oldest first."""

    def __init__(self) -> None:
        self._looks: deque[Look] = deque(maxlen=N_LOOKS)

    def add(self, look: Look) -> tuple[Look, ...]:
        """Return the looks up to this one without a break; empty: nobody drives."""
        before = self._looks[-1].stamp_ns if self._looks else look.stamp_ns
        if look.stamp_ns - before >= 2 * LOOK_NS:
            self._looks.clear()
        if look.state is not SessionState.ENGAGED:
            self._looks.clear()
            return ()
        self._looks.append(look)
        return tuple(self._looks)
