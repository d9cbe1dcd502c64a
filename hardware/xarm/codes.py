"""Error codes: name, state, remedy.

Source: UFACTORY's user manual and ``xarm-python-sdk``; a test compares both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from paprle.hardware.vendor_arm.states import ArmState

_ESTOP, _STOP, _FAULT = (
    ArmState.EMERGENCY_STOP,
    ArmState.PROTECTIVE_STOP,
    ArmState.FAULT,
)
_CLEAR = "clear the error and enable the arm in UFACTORY Studio"
_AGAIN = "then start the session again"
_RESTART = "switch it off and on by the emergency stop of the control box"
_SUPPORT = "ask the maker's support"
_PATH = f"move slower or elsewhere; {_CLEAR}"

ERRORS: Mapping[int, tuple[ArmState, str, str]] = {
    1: (_ESTOP, "emergency stop button", f"release it; {_CLEAR}"),
    2: (_ESTOP, "emergency input of the control box", f"close both EI; {_CLEAR}"),
    3: (_ESTOP, "emergency stop of the three-state switch", f"release it; {_CLEAR}"),
    10: (_FAULT, "servo motor", _RESTART),
    **{10 + k: (_FAULT, f"servo motor {k}", _RESTART) for k in range(1, 8)},
    18: (_FAULT, "force torque sensor does not answer", "look at its cable"),
    19: (_FAULT, "end effector does not answer", f"look at its cable; {_CLEAR}"),
    21: (_STOP, "kinematic error", _PATH),
    22: (_STOP, "self-collision", f"lead it away in manual mode; {_CLEAR}"),
    23: (_STOP, "joint angle beyond its limit", f"lead it back; {_CLEAR}"),
    24: (_STOP, "speed beyond its limit", _PATH),
    25: (_STOP, "planning error", _PATH),
    26: (_FAULT, "Linux RT error", _SUPPORT),
    27: (_FAULT, "command reply error", _RESTART),
    28: (_FAULT, "end module does not answer", _RESTART),
    30: (_FAULT, "feedback speed beyond its limit", _SUPPORT),
    31: (
        _STOP,
        "collision: abnormal current",
        f"clear its way, compare payload and sensitivity; {_CLEAR}",
    ),
    32: (_FAULT, "circle calculation", _CLEAR),
    33: (_FAULT, "controller GPIO error", _RESTART),
    34: (_FAULT, "recording timeout", _CLEAR),
    35: (_STOP, "safety boundary", f"lead it inside in manual mode; {_CLEAR}"),
    36: (_FAULT, "too many delay commands", _CLEAR),
    37: (_STOP, "abnormal movement in manual mode", f"compare payload; {_CLEAR}"),
    38: (_FAULT, "abnormal joint angle", _SUPPORT),
    39: (_FAULT, "communication in the power board", _SUPPORT),
    40: (_STOP, "joint trajectory without solution", _PATH),
    41: (_FAULT, "friction file invalid", _RESTART),
    42: (_FAULT, "calibration file invalid", _RESTART),
    50: (_FAULT, "force torque sensor: read", _SUPPORT),
    51: (_FAULT, "force torque sensor: set mode", _SUPPORT),
    52: (_FAULT, "force torque sensor: set zero", _SUPPORT),
    53: (_FAULT, "force torque sensor overloaded", f"unload it; {_CLEAR}"),
    60: (
        _STOP,
        "linear speed beyond its limit in servo_j mode",
        f"set a lower gate.tool_speed; {_CLEAR}",
    ),
    110: (_FAULT, "base board communication", _SUPPORT),
    111: (_FAULT, "external 485 device does not answer", "look at its cable"),
}
"""State, name and remedy of each error of the control box."""

SERVO_ERRORS: Mapping[int, str] = {
    10: "current detection",
    11: "current beyond its limit",
    12: "speed beyond its limit",
    14: "position command beyond its limit",
    15: "joint overheat",
    16: "encoder initialization",
    17: "single ring encoder",
    18: "multi-turn encoder",
    19: "battery voltage low",
    20: "driver IC hardware",
    21: "driver IC initialization",
    22: "encoder configuration",
    23: "large motor position deviation",
    26: "positive overrun",
    27: "negative overrun",
    28: "joint commands: no power",
    33: "drive overloaded",
    34: "motor overload",
    35: "motor type",
    36: "driver type",
    39: "joint voltage overload",
    40: "joint voltage insufficient",
    49: "EEPROM read and write",
    52: "motor angle initialization",
    58: "torque command timeout",
}
"""Name of each error of a joint's servo."""


def explain(error: int, servos: Sequence[int] = ()) -> tuple[ArmState, str, str]:
    """Return an error's state, words and remedy.

    Args:
        error: Box's, not 0.
        servos: By joint; 0: none.
    """
    state, name, remedy = ERRORS.get(error, (_FAULT, "unknown error", _SUPPORT))
    joints = [
        f"joint {k}: S{code} {SERVO_ERRORS.get(code, 'joint error')}"
        for k, code in enumerate(servos, start=1)
        if code
    ]
    return state, ", ".join((f"C{error} {name}", *joints)), f"{remedy}, {_AGAIN}"
