"""Ports mirrored between two hosts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from paprle.ipc.records import Layout
from paprle.link.packets import DatagramKind


@dataclass(frozen=True)
class LatestPolicy:
    """Policy of the newest record alone."""


@dataclass(frozen=True)
class Queue:
    """Policy of all records in order, at most ``bound`` waiting."""

    bound: int


@dataclass(frozen=True)
class Mirror:
    """Port that a link carries.

    Attributes:
        dtype: Of its records; None: they are self-describing.
        is_up: From leader host to follower host.
        stamps: Fields in the sender's time, [ns], 0 if absent; the first gives the age.
    """

    kind: DatagramKind
    dtype: np.dtype[np.void] | None
    is_up: bool
    policy: LatestPolicy | Queue
    stamps: tuple[str, ...]


Cut = Mapping[str, Mirror]
"""The ports that a link carries, by name."""

_BACKLOG = 20_000  # chosen: 100 s of periods for a recorder that cannot be reached
_GATE_STAMPS = ("stamp_ns", "meas_ns")


def make_gate_cut(layout: Layout) -> Cut:
    """Return the cut between session and gate."""
    status = layout.status
    return MappingProxyType(
        {
            "setpoint": Mirror(
                DatagramKind.SETPOINT,
                layout.setpoint,
                is_up=True,
                policy=LatestPolicy(),
                stamps=("source_ns", "stamp_ns"),
            ),
            "status": Mirror(
                DatagramKind.STATUS,
                status,
                is_up=False,
                policy=LatestPolicy(),
                stamps=_GATE_STAMPS,
            ),
            "gate_ring": Mirror(
                DatagramKind.RECORD,
                status,
                is_up=False,
                policy=Queue(_BACKLOG),
                stamps=_GATE_STAMPS,
            ),
        }
    )


LEADER_CUT: Cut = MappingProxyType(
    {
        "sample": Mirror(
            DatagramKind.SAMPLE, None, is_up=True, policy=LatestPolicy(), stamps=()
        ),
        "errors": Mirror(
            DatagramKind.ERRORS, None, is_up=True, policy=LatestPolicy(), stamps=()
        ),
        "tick": Mirror(
            DatagramKind.TICK, None, is_up=False, policy=LatestPolicy(), stamps=()
        ),
    }
)
"""Cut between leader and session, which is at the robot:
``paprle.link.remote_leader.captures`` and ``paprle.link.remote_leader.error_report`` go
there, a ``paprle.link.remote_leader.robot_view`` comes back. Neither host knows the
other's devices. No capture is kept back on the link: at the robot the motion is a
period and some jitter behind them (``paprle.reconstruction.path``)."""


def find_by_kind(cut: Cut, *, is_up: bool) -> dict[DatagramKind, str]:
    """Return one direction's ports by kind."""
    return {one.kind: name for name, one in cut.items() if one.is_up == is_up}


def find_queue(cut: Cut) -> tuple[str, Queue] | None:
    """Return the port of reliable records, if any."""
    for name, mirror in cut.items():
        if isinstance(mirror.policy, Queue):
            return name, mirror.policy
    return None
