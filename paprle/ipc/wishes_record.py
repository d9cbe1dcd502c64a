"""Records of ``Wishes`` from observers."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from paprle.contracts.operator.requests import Hands, Wishes
from paprle.contracts.types import Actions, RobotInfo, Vec
from paprle.ipc.records import Record

WISHES = "wishes"
"""Kind of port: what is asked for at a page, one for each."""
_TEXT_BYTES = 800  # chosen: 200 letters, as the terminal takes, in UTF-8
_KEY_BYTES = 64  # chosen: twice a token
_ARRAYS = ("poses", "openings", "axes", "joints")


def make_wishes_dtype(robot: RobotInfo, placed: Iterable[str]) -> np.dtype[np.void]:
    """Return the dtype for a robot and named objects."""
    m, n = len(robot.limbs), len(robot.joint_names)
    return np.dtype(
        [
            ("actions", "u4", (len(Actions._fields),)),
            ("n_tasks", "u4"),
            ("task", f"S{_TEXT_BYTES}"),
            ("n_notes", "u4"),
            ("note", f"S{_TEXT_BYTES}"),
            ("held", "?", (m,)),
            ("key", f"S{_KEY_BYTES}"),
            ("is_watched", "?"),
            ("has_hands", "?"),
            ("stamp_ns", "i8"),
            ("is_held", "?"),
            ("n_presses", "u4"),
            ("poses", "f8", (m, 7)),
            ("openings", "f8", (m,)),
            ("axes", "f8", (m, 7)),
            ("joints", "f8", (n,)),
            ("placed", [(name, "f8", (7,)) for name in placed]),  # NaN: nowhere
        ]
    )


def pack_wishes(dtype: np.dtype[np.void], wishes: Wishes) -> Record:
    """Return the record of wishes."""
    record: Record = np.zeros((), dtype)
    record["actions"], record["n_tasks"] = wishes.actions, wishes.n_tasks
    record["task"] = wishes.task.encode()[:_TEXT_BYTES]
    record["n_notes"] = wishes.n_notes
    record["note"] = wishes.note.encode()[:_TEXT_BYTES]
    record["held"][list(wishes.held)] = True
    record["key"] = wishes.key.encode()
    record["is_watched"] = wishes.is_watched
    for name in dtype["placed"].names or ():
        record["placed"][name] = wishes.placed.get(name, np.nan)
    record["has_hands"] = wishes.hands is not None
    if wishes.hands is not None:
        for name, value in wishes.hands._asdict().items():
            record[name] = value
    return record


def unpack_wishes(record: Record) -> Wishes:
    """Return the wishes of a record."""
    hands = None
    if record["has_hands"]:
        hands = Hands(
            int(record["stamp_ns"]),
            bool(record["is_held"]),
            int(record["n_presses"]),
            *(record[name] for name in _ARRAYS),
        )
    return Wishes(
        actions=Actions(*record["actions"].tolist()),
        task=record["task"].item().decode(errors="ignore"),
        n_tasks=int(record["n_tasks"]),
        note=record["note"].item().decode(errors="ignore"),
        n_notes=int(record["n_notes"]),
        held=find_held(record),
        placed=find_placed(record),
        hands=hands,
        key=record["key"].item().decode(errors="ignore"),
        is_watched=bool(record["is_watched"]),
    )


def find_placed(record: Record) -> dict[str, Vec]:
    """Return T_world_object by name, xyz + quat_xyzw."""
    rows = record["placed"]
    known = {name: rows[name] for name in rows.dtype.names or ()}
    return {name: row for name, row in known.items() if np.isfinite(row).all()}


def find_held(record: Record) -> frozenset[int]:
    """Return the indices of held limbs."""
    return frozenset(record["held"].nonzero()[0].tolist())
