"""What a tick leaves for others; most of it is made when it is asked for.

The set-point is on its way before the recorder's row or the leader's feedback are made.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from paprle.contracts.types import Feedback, SessionState
from paprle.ipc.records import HeadCodec, Layout, Record, TickHead

if TYPE_CHECKING:
    from paprle.session.core import Core


class Output:
    """What one tick gave.

    Attributes:
        setpoint: For the gate.
        events: For the recorder's event stream.
        is_over: Nothing more is to be done.
    """

    def __init__(
        self, core: Core, rows: TickRows, setpoint: Record, *, is_over: bool
    ) -> None:
        self._core, self._rows = core, rows
        self.setpoint = setpoint
        self.events: list[dict[str, Any]] = core.episodes.events
        self.is_over = is_over

    @cached_property
    def tick(self) -> Record:
        """For the recorder."""
        return self._rows.fill(self._core)

    @cached_property
    def feedback(self) -> Feedback:
        """For the leader."""
        core = self._core
        return Feedback(
            stamp_ns=core.now_ns,
            state=core.state,
            episode=core.episodes.number,
            is_engaged=core.state is SessionState.ENGAGED,
        )


class TickRows:
    """The recorder's record of a tick."""

    def __init__(self, layout: Layout) -> None:
        self._record: Record = np.zeros((), dtype=layout.tick)
        self._codec = HeadCodec(TickHead, layout.tick)
        self._record["driver"] = -1

    def fill(self, core: Core) -> Record:
        """Return the record of the core's last step, overwritten by the next call."""
        record, motion, sample = self._record, core.motion, core.leaders.sample
        head = TickHead(
            k=core.n_ticks,
            stamp_ns=core.now_ns,
            state=core.state,
            episode=core.episodes.number,
            has_sample=sample is not None,
            sample_age_ns=(
                0 if sample is None else core.now_ns - core.leaders.arrived_ns
            ),
        )
        self._codec.write(record, head)
        if sample is not None:
            record["sample"] = sample.record
        record["driver"] = motion.driver
        motion.fill_rows()
        record["raw"], record["target"] = motion.raw_rows, motion.target_rows
        record["q_des"], record["dq_des"] = motion.q_des, motion.dq_des
        record["err_pos"], record["err_rot"] = motion.err_pos, motion.err_rot
        return record
