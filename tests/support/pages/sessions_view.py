"""A session's view as an observer gets it, of a robot of two joints."""

from __future__ import annotations

import numpy as np

from paprle.contracts.session_view import SessionView
from paprle.contracts.types import GateState, SessionState


def make_view(state=SessionState.ENGAGED, stamp_ns=1, captured_ns=1, why="", **rest):
    zeros = np.zeros(2)
    values = {
        "stamp_ns": stamp_ns,
        "state": state,
        "episode": 1,
        "captured_ns": captured_ns,
        "posted_ns": stamp_ns,
        "computed_ns": 0,
        "targets": {"arm": np.full(7, np.nan)},
        "drivers": {"arm": "hand"},
        "q_des": zeros,
        "gate_state": GateState.HOLD if why else GateState.ENGAGED,
        "reasons": (),
        "latched": why,
        "counts": {},
        "written_ns": stamp_ns,
        "q_cmd": zeros,
        "dq_cmd": zeros,
        "measured_ns": stamp_ns,
        "q": np.array([0.25, -1.5]),
        "dq": zeros,
        "tau": zeros,
        "objects": {},
        "leader_age": 0.0,
        "tick_age": 0.0,
        "gate_age": 0.0,
    }
    return SessionView(**{**values, **rest})
