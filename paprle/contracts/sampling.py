"""How a leader's samples come: in which order they count, and how old they may be."""

from __future__ import annotations

from typing import Literal, NamedTuple

Policy = Literal["latest", "ordered"]
"""Which samples are waypoints: newer captures alone, or late ones too, in order."""
SLOW_RATE = 150.0  # [Hz] chosen: a leader below leaves one of four ticks without news


class Sampling(NamedTuple):
    """What a leader tells those who reconstruct its motion.

    Attributes:
        policy: Which of its samples are waypoints.
        content_age: Its newest capture may be so old while signs of life arrive
            (samples with a new ``seq`` and the ``stamp_ns`` of the one before), [s]; 0:
            it sends no such signs, and what counts is when its last sample arrived.
    """

    policy: Policy = "latest"
    content_age: float = 0.0
