"""Delay of the robot, by two estimates that must agree.

They are the shift of least distance and the lag of best correlation, on reached
targets.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from paprle_lab.evaluation.latency import find_path_lag
from paprle_lab.evaluation.metrics import (
    TAU_MAX,
    Spans,
    find_best_shift,
    subtract_spans,
)
from paprle_lab.evaluation.tracks import LimbTrack

AGREE = 0.002  # [s] chosen: of slow robots the two ways weigh fast motion differently
AGREE_SHARE = 0.1  # chosen: and of the delay itself, for robots far behind
END = 1e-3  # [s] chosen: a shift as near to the end of its range may lie beyond


class Shift(NamedTuple):
    """The delay of a robot; None if unknown.

    Attributes:
        tau: Best shift, [s].
        lag: Of best correlation, [s].
        note: Reason of an unknown delay.
    """

    tau: float | None
    lag: float | None
    note: str = ""


def find_shift(track: LimbTrack) -> Shift:
    """Return the delay of a limb behind its target."""
    if not len(track.target) or len(track.measured) < 2:
        return Shift(None, None)
    why = (
        f"no stretch in which it reached its target is longer than {TAU_MAX:g} s"
        if len(track.short)
        else f"no ENGAGED stretch is longer than {TAU_MAX:g} s"
    )
    for spans, without in _list_choices(track):
        tau = find_best_shift(track.target, track.measured, spans, without)
        if tau is None:
            continue
        lag = find_path_lag(track.target, track.measured, spans, without)
        why = _compare(tau, lag)
        if not why:
            return Shift(tau, lag)
    return Shift(None, None, why)


def _list_choices(track: LimbTrack) -> Iterator[tuple[Spans, Spans]]:
    yield subtract_spans(track.spans, track.short), track.short[:0]
    if len(track.short):
        yield track.spans, track.short


def _compare(tau: float, lag: float | None) -> str:
    if lag is None:
        return (
            "the two motions do not correlate clearly (standstill, a straight line, or "
            "a robot held off its target)"
        )
    if abs(tau - lag) > AGREE + AGREE_SHARE * abs(lag):
        return (
            f"the shift of least distance, {tau * 1e3:.1f} ms, and that of best "
            f"correlation, {lag * 1e3:.1f} ms, disagree"
        )
    if tau > TAU_MAX - END:
        return f"it may be longer than {TAU_MAX * 1e3:g} ms"
    return ""
