"""Records of ``Feedback`` to the leaders."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import numpy.typing as npt

from paprle.contracts.types import Feedback, SessionState
from paprle.ipc.records import Record

Drivers = npt.NDArray[np.integer]
MOST_WORDS = 200  # [bytes] chosen: one sentence; the rest is cut


@cache
def make_feedback_dtype(n_limbs: int) -> np.dtype[np.void]:
    """Return a feedback's dtype for this number of limbs."""
    return np.dtype(
        [
            ("stamp_ns", "i8"),
            ("state", "i4"),
            ("episode", "i4"),
            ("is_engaged", "?"),
            ("is_recorded", "?"),
            ("asked", "u4", (2,)),  # counters of keep and play
            ("n_cues", "u4"),
            ("standing", f"S{MOST_WORDS}"),
            ("driver", "i4", (n_limbs,)),  # limb of the leaders that drives; -1: none
        ]
    )


def pack_feedback(feedback: Feedback, driver: Drivers) -> Record:
    """Return the record of feedback and drivers."""
    record: Record = np.zeros((), dtype=make_feedback_dtype(len(driver)))
    record["stamp_ns"], record["episode"] = feedback.stamp_ns, feedback.episode
    record["state"] = feedback.state
    record["is_engaged"], record["driver"] = feedback.is_engaged, driver
    record["asked"] = feedback.n_keeps, feedback.n_plays
    record["n_cues"], record["is_recorded"] = feedback.n_cues, feedback.is_recorded
    if feedback.standing:
        record["standing"] = feedback.standing.encode()[:MOST_WORDS]
    return record


def unpack_feedback(record: Record, rows: range) -> Feedback:
    """Return the feedback for these limb rows."""
    feedback = Feedback(
        stamp_ns=int(record["stamp_ns"]),
        state=SessionState(int(record["state"])),
        episode=int(record["episode"]),
        is_engaged=bool(record["is_engaged"]),
        n_keeps=int(record["asked"][0]),
        n_plays=int(record["asked"][1]),
        n_cues=int(record["n_cues"]),
        standing=record["standing"].item().decode(errors="ignore"),
        is_recorded=bool(record["is_recorded"]),
    )
    return narrow_feedback(feedback, record["driver"], rows)


def narrow_feedback(feedback: Feedback, driver: Drivers, rows: range) -> Feedback:
    """Return the feedback for these limb rows."""
    sources = driver.tolist()
    drives = tuple(row in sources for row in rows)
    is_engaged = feedback.is_engaged and any(drives)
    return replace(feedback, is_engaged=is_engaged, drives=drives)
