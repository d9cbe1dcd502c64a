"""Order and greatest age of a leader's samples."""

from __future__ import annotations

from typing import Literal, NamedTuple

Policy = Literal["latest", "ordered"]
"""Which samples are waypoints: newer captures alone, or late ones too, in order."""
LEAST_AGE = 0.1  # [s] spec: safety.md A1, T_stale
_LONGEST_AGE = 0.2  # [s] spec: safety.md A2, the longest that anything may be told
_N_PERIODS, _MARGIN = 4, 0.02  # chosen: three samples in a row lost, and late [s]
SLOW_RATE = 150.0  # [Hz] chosen: a leader below leaves one of four ticks without news


class Sampling(NamedTuple):
    """Sampling of a motion to reconstruct.

    ``content_age`` is the longest time without a capture, [s]; 0: by rate.
    """

    policy: Policy = "latest"
    content_age: float = 0.0


def find_content_age(sampling: Sampling, rate: float) -> float:
    """Return the greatest age of a newest capture, [s].

    By default three samples may be missing, within 0.1 s and 0.2 s.
    """
    missing = _N_PERIODS / rate + _MARGIN
    return sampling.content_age or min(max(LEAST_AGE, missing), _LONGEST_AGE)
