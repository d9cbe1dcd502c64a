"""Views of a session for tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from paprle.contracts.plugins import SessionView
from paprle.contracts.types import GateState, RobotInfo, SessionState, readonly


def make_session_view(
    robot: RobotInfo, stamp_ns: int = 1_000_000_000, **fields: Any
) -> SessionView:
    """Return a view of a driven robot at home, all stamps equal."""
    n, limbs = len(robot.joint_names), [limb.name for limb in robot.limbs]
    none, zeros = readonly(np.full(n, np.nan)), readonly(np.zeros(n))
    values: dict[str, Any] = {
        "stamp_ns": stamp_ns,
        "state": SessionState.ENGAGED,
        "episode": 0,
        "captured_ns": stamp_ns,
        "posted_ns": stamp_ns,
        "computed_ns": 100_000,
        "targets": {limb: readonly(np.full(7, np.nan)) for limb in limbs},
        "drivers": dict.fromkeys(limbs),
        "q_des": robot.home,
        "gate_state": GateState.ENGAGED,
        "reasons": (),
        "latched": "",
        "counts": {},
        "written_ns": stamp_ns,
        "q_cmd": robot.home,
        "dq_cmd": zeros,
        "measured_ns": stamp_ns,
        "q": robot.home,
        "dq": zeros,
        "tau": none,
        "objects": {},
        "leader_age": 0.0,
        "tick_age": 0.0,
        "gate_age": 0.0,
    }
    return SessionView(**values | fields)
