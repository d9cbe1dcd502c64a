"""Objects of env, operator or advisor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from paprle.contracts.session_view import Advice, SessionView
from paprle.contracts.types import Vec

_FRESH = 1.0  # [s] as the rule `axes` has it


class NamedObject(NamedTuple):
    """T_world_object, xyz + quat_xyzw, (7,), [m], and its age, [s]."""

    pose: Vec
    age: float


def find_object(view: SessionView, name: str) -> NamedObject | None:
    """Return an object of the env or ``session.objects``, or a marker ``ADVISOR.ID``.

    The advisor's record has ``id`` (k,), ``pose`` (k, 7) and ``seen_ns`` (k,).
    """
    pose = view.objects.get(name)
    if pose is not None:
        return NamedObject(pose, 0.0) if np.isfinite(pose).all() else None
    return find_told(view.advice, name)


def find_told(advice: Mapping[str, Advice], name: str) -> NamedObject | None:
    """Return the object ``ADVISOR.ID`` that an advisor sees."""
    advisor, _, number = name.rpartition(".")
    said = advice.get(advisor)
    if said is None or not number.isdecimal() or said.age > _FRESH:
        return None
    record = said.record
    if not {"id", "pose", "seen_ns"} <= set(record.dtype.names or ()):
        return None
    rows = np.flatnonzero(record["id"] == int(number))
    if not record["valid"] or not len(rows):
        return None
    unseen_ns = int(record["stamp_ns"]) - int(record["seen_ns"][rows[0]])
    return NamedObject(record["pose"][rows[0]], said.age + unseen_ns * 1e-9)
