"""Joint positions of a bag, merged from partial messages."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from paprle.contracts.errors import RecordingError
from paprle.contracts.kit.joint_streams import (
    AmbiguousNamesError,
    find_contradiction,
    match_names,
)
from paprle.contracts.types import Vec

Stamps = npt.NDArray[np.int64]
Message = tuple[int, tuple[str, ...], Vec]

_RARE = 0.1  # chosen: a joint told less often than this is not part of the motion


@dataclass(frozen=True)
class Joints:
    """Joint positions of one topic.

    Attributes:
        stamps_ns: Shape (n,).
        q: Shape (n, m), [rad] or [m].
        n_stale: Rows dropped after a joint's long silence.
    """

    stamps_ns: Stamps
    names: tuple[str, ...]
    q: Vec
    n_left_out: int
    n_merged: int = 0
    n_stale: int = 0


@dataclass(frozen=True)
class WantedJoints:
    """Joints to read from a topic.

    Attributes:
        names: Joint names; empty: all, or those with the limb's name as prefix.
        max_age: Longest silence of a joint, [s].
    """

    names: tuple[str, ...] = ()
    limb: str = ""
    max_age: float = 0.25


def merge_states(
    path: Path, topic: str, messages: list[Message], wanted: WantedJoints
) -> Joints:
    """Return rows of all wanted joints, from messages with some of them.

    Others are interpolated at the most frequent joint's stamps.

    Raises:
        RecordingError: If joints are missing or ambiguous, or publishers contradict.
    """
    series = _collect(messages)
    try:
        chosen = _choose(topic, series, wanted)
    except _NamesError as err:
        raise RecordingError(f"{path}: {err}") from err
    used = {name: series[came] for name, came in chosen.items()}
    if joint := find_contradiction({n: _in_order(*one) for n, one in used.items()}):
        raise RecordingError(
            f"{path}: expected one position of each joint on {topic}, got positions of "
            f"'{joint}' that alternate between two motions, as of two publishers on "
            "one topic; record one of them"
        )
    base = max(used.values(), key=lambda one: len(one[0]))[0]
    columns, is_stale = [], np.zeros(len(base), dtype=np.bool_)
    for t, q in used.values():
        column, is_silent = _at(base, t, q, wanted.max_age)
        columns.append(column)
        is_stale |= is_silent
    is_whole = all(np.array_equal(t, base) for t, _ in used.values())
    came = set(chosen.values())
    return Joints(
        stamps_ns=base[~is_stale],
        names=tuple(used),
        q=np.column_stack(columns)[~is_stale],
        n_left_out=sum(not came & set(names) for _, names, _ in messages),
        n_merged=0 if is_whole else int((~is_stale).sum()),
        n_stale=int(is_stale.sum()),
    )


def _collect(messages: list[Message]) -> dict[str, tuple[Stamps, Vec]]:
    found: dict[str, tuple[list[int], list[float]]] = {}
    for stamp_ns, names, q in messages:
        for name, value in zip(names, q.tolist(), strict=True):
            stamps, values = found.setdefault(name, ([], []))
            stamps.append(stamp_ns)
            values.append(value)
    return {
        name: (np.array(stamps, dtype=np.int64), np.array(values))
        for name, (stamps, values) in found.items()
    }


class _NamesError(ValueError):
    """Wanted joints are missing or ambiguous."""


def _choose(
    topic: str, series: dict[str, tuple[Stamps, Vec]], wanted: WantedJoints
) -> dict[str, str]:
    seen = ", ".join(sorted(series)) or "none"
    if not wanted.names:
        most = max((len(t) for t, _ in series.values()), default=0)
        usual = [name for name, (t, _) in series.items() if len(t) >= _RARE * most]
        own = [name for name in usual if wanted.limb and _is_of(name, wanted.limb)]
        if not usual:
            raise _NamesError(f"expected joints by name on {topic}, got {seen}")
        return {name: name for name in own or usual}
    try:
        chosen = match_names(wanted.names, series, wanted.limb)
    except AmbiguousNamesError as err:
        raise _NamesError(
            f"expected joints of one arm on {topic}, got {err}; name those that are "
            "meant in leader.joints, or name the limb as their prefix (leader.limb)"
        ) from err
    missing = [name for name in wanted.names if name not in chosen]
    if missing:
        raise _NamesError(
            f"expected joints {', '.join(missing)} on {topic}, got {seen}; name those "
            "that are meant in leader.joints"
        )
    return chosen


def _is_of(name: str, limb: str) -> bool:
    head = name.lower().lstrip("/")
    return head.startswith(limb.lower()) and head[len(limb) :][:1] in {*"_./:-"}


def _in_order(t: Stamps, q: Vec) -> tuple[Vec, Vec]:
    order = np.argsort(t, kind="stable")
    return 1e-9 * (t[order] - t[order[0]]), q[order]


def _at(
    base: Stamps, t: Stamps, q: Vec, max_age: float
) -> tuple[Vec, npt.NDArray[np.bool_]]:
    if np.array_equal(base, t):
        return q, np.zeros(len(base), dtype=np.bool_)
    own, q = _in_order(t, q)
    at = 1e-9 * (base - t.min())
    after = np.clip(np.searchsorted(own, at, side="left"), 0, len(own) - 1)
    before = np.clip(np.searchsorted(own, at, side="right") - 1, 0, len(own) - 1)
    gap = own[after] - own[before]
    away = np.minimum(np.abs(at - own[after]), np.abs(at - own[before]))
    return np.interp(at, own, q), (gap > max_age) | (away > max_age)
