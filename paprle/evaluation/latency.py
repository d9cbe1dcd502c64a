"""Three latencies that must not be mixed up, and the lag between two motions.

* capture to command: from the capture of a leader sample until the gate first writes a
  command that rests on it. A leader that looks ahead uses data from the future of its
  stamp, so its look-ahead is added: that time is lost to the operator as well.
* command age at actuation: how old the set-point is that the gate follows when it
  writes. Sawtooth-shaped by nature; a published 18 ms at 30 Hz was this one.
* command to motion: how long the joints take to do what was sent, by correlation.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paprle.contracts.types import Vec
from paprle.evaluation.metrics import Spans, is_inside, minimise
from paprle.evaluation.poses import Stamps, interpolate_columns

LAG_MIN, LAG_MAX = -0.1, 0.5  # [s] chosen: leads betray predictions or wrong stamps
STILL = 1e-4  # [rad] or [m] chosen: standard deviation below which nothing moves
DISTINCT = 1e-6  # chosen: how far the correlation must fall 0.1 s beside its peak
CLEAR = 1.2  # chosen: and how much of its rest, so that noise on a ramp is no bend
BESIDE = 0.1  # [s] chosen: with it, a straight ramp is told from a bend
WINDOW, HOP = 4.0, 2.0  # [s] chosen: several bends of a hand's motion; half overlap


def measure_capture_to_command(
    tick: tuple[Stamps, Stamps], gate: tuple[Stamps, Stamps]
) -> Vec:
    """Measure from the capture of each new sample to the first command on it.

    Args:
        tick: For each session tick that saw a new leader sample while engaged: when
            it began, and the capture stamp of that sample, shape (N,) each, [ns].
        gate: For each gate tick: when it wrote, and the stamp of the set-point it
            followed, shape (M,) each, [ns].

    Returns:
        Latencies of the samples that reached the robot, shape (≤ N,), [s].
    """
    began_ns, capture_ns = tick
    wrote_ns, setpoint_ns = gate
    # A set-point posted at or after the tick began rests on its sample or a newer one.
    newest = np.maximum.accumulate(setpoint_ns) if len(setpoint_ns) else setpoint_ns
    first = np.searchsorted(newest, began_ns, side="left")
    reached = first < len(wrote_ns)
    waited_ns = wrote_ns[first[reached]] - capture_ns[reached]
    return np.asarray(waited_ns * 1e-9, dtype=np.float64)


def measure_command_age(wrote_ns: Stamps, setpoint_ns: Stamps) -> Vec:
    """Return the ages of the set-points that were followed, [s]; 0 stamps: none."""
    has_setpoint = setpoint_ns > 0
    ages_ns = wrote_ns[has_setpoint] - setpoint_ns[has_setpoint]
    return np.asarray(ages_ns * 1e-9, dtype=np.float64)


def find_lag(
    leading: tuple[Vec, Vec], following: tuple[Vec, Vec], spans: Spans
) -> float | None:
    """Find the lag at which two motions correlate best, finer than a sample.

    Args:
        leading: Times (N,), [s], and values (N, k).
        following: Times (M,), [s], and values (M, k).
        spans: Stretches to look at, shape (S, 2), [s]. Samples too near to their ends
            to be shifted are left out for every lag.

    Returns:
        The lag in [LAG_MIN, LAG_MAX], [s], positive when ``following`` is late; None
        when nothing moves or the motion has no bend to tell a lag by.
    """
    t, x = leading
    is_fixed = is_inside(t, spans, before=-LAG_MIN, after=LAG_MAX)
    t, x = t[is_fixed], x[is_fixed]
    if len(t) < 3 or len(following[0]) < 3:
        return None
    x = x - x.mean(axis=0)
    if np.sqrt((x**2).sum(axis=1).mean()) < STILL:
        return None

    reach = [t[0] + LAG_MIN - BESIDE, t[-1] + LAG_MAX + BESIDE]
    low, high = np.searchsorted(following[0], reach)
    near = slice(max(low - 1, 0), high + 1)
    t_y, y_known = following[0][near], np.asfortranarray(following[1][near])

    def mismatch(lag: float) -> float:
        y = interpolate_columns(t + lag, t_y, y_known)
        y = y - y.mean(axis=0)
        norm = np.sqrt((x**2).sum() * (y**2).sum())
        return 1.0 - float((x * y).sum() / norm) if norm > 0 else 1.0

    lag = minimise(mismatch, LAG_MIN, LAG_MAX)
    best = mismatch(lag)
    beside = min(mismatch(lag - BESIDE), mismatch(lag + BESIDE))
    return lag if beside > max(best + DISTINCT, CLEAR * best) else None


def find_joint_lags(
    command: tuple[Vec, Vec], motion: tuple[Vec, Vec], spans: Spans
) -> list[Vec]:
    """Find the lag of each joint in every window in which it moves enough.

    Args:
        command: When commands were written (N,), [s], and q_cmd (N, n).
        motion: When the robot was measured (M,), [s], and q_meas (M, n).
        spans: Stretches to look at, shape (S, 2), [s].

    Returns:
        For each joint its lags, one a window, [s].
    """
    windows = [window for span in spans for window in _windows(*span)]
    lags: list[Vec] = []
    for joint in range(command[1].shape[1]):
        column = slice(joint, joint + 1)
        found = [
            find_lag(
                (command[0], command[1][:, column]),
                (motion[0], motion[1][:, column]),
                window,
            )
            for window in windows
        ]
        lags.append(np.array([lag for lag in found if lag is not None]))
    return lags


def _windows(begin: float, end: float) -> list[npt.NDArray[np.float64]]:
    """Return overlapping windows of a stretch; the whole of it when it is short."""
    if end - begin <= WINDOW:
        return [np.array([[begin, end]])]
    starts = np.arange(begin, end - WINDOW + 1e-9, HOP)
    return [np.array([[start, start + WINDOW]]) for start in starts]
