"""Recorded input of tracking."""

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
    """Request of a tick, and the gate's command by then.

    Attributes:
        silent_ns: Since the newest sample, [ns].
        driver: A limb's leader limb, (m,); -1 for none.
        target: T_base_eef rows, (m, 7).
        is_far: Shortened by ``retarget.max_travel``, (m,).
        err_pos: Of IK, (m,), [m]; NaN: no pose.
        err_rot: (m,), [rad].
        q_des: Requested, (n,), [rad] or [m].
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
    """Return whether a tick is examined, by two stamps, [ns]."""
    return stamp_ns // LOOK_NS != before_ns // LOOK_NS


def make_look(tick: Record, status: Record) -> Look:
    """Return a copy of a tick and its status, as recorded."""
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


class LookHistory:
    """Newest looks of an engagement, oldest first."""

    def __init__(self) -> None:
        self._looks: deque[Look] = deque(maxlen=N_LOOKS)

    def add(self, look: Look) -> tuple[Look, ...]:
        """Return the unbroken looks up to this one, if driven."""
        before = self._looks[-1].stamp_ns if self._looks else look.stamp_ns
        if look.stamp_ns - before >= 2 * LOOK_NS:
            self._looks.clear()
        if look.state is not SessionState.ENGAGED:
            self._looks.clear()
            return ()
        self._looks.append(look)
        return tuple(self._looks)
