"""Paths that ur_rtde writes into its control script.

It uploads ``movej`` and ``movel`` lines with a blend, which is not modelled: the arm
rests at each waypoint.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from paprle_emulators.ur.models import N_JOINTS, Vec

_HEAD = "def exec_move_path():"
_NUMBER = r"[-+\d.eE]+"
_MOVE = re.compile(
    rf"(?P<kind>move[jlpc])\((?P<pose>p?)\[(?P<values>[^\]]*)\],\s*a=(?P<a>{_NUMBER}),"
    rf"\s*v=(?P<v>{_NUMBER}),\s*r=(?P<r>{_NUMBER})\)"
)
_PROGRESS = re.compile(r"signal_async_progress\((\d+)\)")


@dataclass(frozen=True, slots=True)
class Waypoint:
    """One move of a path.

    Attributes:
        kind: movej, movel, movep or movec.
        is_pose: Whether ``values`` are a pose vector, not joints.
        progress: Number that ur_rtde gives it, or -1.
    """

    kind: str
    is_pose: bool
    values: Vec
    speed: float
    rate: float
    progress: int


def read_path(text: str) -> list[Waypoint]:
    """Return the path in a control script.

    Raises:
        ValueError: If a move is unreadable.
    """
    _, _, body = text.partition(_HEAD)
    body = body[: body.find("\n    end")] if "\n    end" in body else body
    points, progress = [], -1
    for line in body.splitlines():
        told, move = _PROGRESS.search(line), _MOVE.search(line)
        if told:
            progress = int(told[1])
        elif move:
            points.append(_make_waypoint(move, progress))
        elif re.match(r"\s*move", line):
            raise ValueError(f"expected a move of ur_rtde, got {line.strip()!r}")
    return points


def _make_waypoint(move: re.Match[str], progress: int) -> Waypoint:
    values = np.array([float(word) for word in move["values"].split(",")])
    if values.shape != (N_JOINTS,):
        raise ValueError(f"expected {N_JOINTS} numbers, got {move[0]!r}")
    numbers = float(move["v"]), float(move["a"])
    return Waypoint(move["kind"], bool(move["pose"]), values, *numbers, progress)
