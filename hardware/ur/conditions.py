"""UR's modes and bits as a condition.

Source: Universal Robots, "Real-Time Data Exchange (RTDE) Guide".
"""

from __future__ import annotations

from collections.abc import Mapping

from paprle.hardware.vendor_arm.states import READY, ArmState, Condition

_OLDEST = (5, 6)  # spec: the dashboard knows remote control since PolyScope 5.6
_OTHERS: Mapping[int, str] = {3: "the CB-series", 10: "PolyScope X"}
"""By the first number of their software. spec: Universal Robots."""
POWER_OFF, IDLE, RUNNING = 3, 5, 7  # spec: robot_mode
_STOPPED, _PLAYING = 1, 2  # spec: runtime_state
_PROGRAM_RUNS = 1 << 1  # spec: robot_status_bits
_RESTART = "read its pendant, restart its safety there, then give the arm power again"
_BITS: tuple[tuple[int, Condition], ...] = (  # spec: safety_status_bits
    (1 << 9, Condition(ArmState.FAULT, "safety fault", _RESTART)),
    (1 << 8, Condition(ArmState.FAULT, "safety violation", _RESTART)),
    (
        1 << 5,
        Condition(
            ArmState.EMERGENCY_STOP,
            "system",
            "release the emergency stop of its cell, then give the arm power again",
        ),
    ),
    (1 << 6, Condition(ArmState.EMERGENCY_STOP, "robot")),
    (1 << 7, Condition(ArmState.EMERGENCY_STOP)),
    (1 << 2, Condition(ArmState.PROTECTIVE_STOP)),
    (1 << 4, Condition(ArmState.SAFEGUARD_STOP)),
    (
        1 << 3,
        Condition(
            ArmState.FAULT,
            "recovery mode",
            "lead the arm inside its safety limits at its pendant",
        ),
    ),
)
_MODES: Mapping[int, ArmState] = {POWER_OFF: ArmState.POWER_OFF, IDLE: ArmState.BRAKED}
_NAMES: Mapping[int, str] = {
    -1: "no controller",
    0: "disconnected",
    1: "confirm safety",
    2: "booting",
    4: "power on",
    6: "backdrive",
    8: "updating firmware",
}


def judge_safety(robot_mode: int, safety_bits: int) -> Condition:
    """Return the condition of power and safety, by RTDE's values."""
    for bit, condition in _BITS:
        if safety_bits & bit:
            return condition
    if robot_mode == RUNNING:
        return READY
    if robot_mode in _MODES:
        return Condition(_MODES[robot_mode])
    return Condition(ArmState.FAULT, _NAMES.get(robot_mode, f"mode {robot_mode}"))


def judge(
    robot_mode: int, safety_bits: int, status_bits: int, runtime: int
) -> Condition:
    """Return an arm's condition, by RTDE's values."""
    found = judge_safety(robot_mode, safety_bits)
    if not found.is_ready:
        return found
    if status_bits & _PROGRAM_RUNS and runtime == _PLAYING:
        return READY
    return Condition(ArmState.ENDED if runtime == _STOPPED else ArmState.PAUSED)


def judge_version(version: str) -> str:
    """Return the problem of a version such as 5.22.1, or ""."""
    numbers = tuple(int(word) for word in version.split(".")[:2] if word.isdigit())
    if numbers >= _OLDEST and numbers[0] == _OLDEST[0]:
        return ""
    other = _OTHERS.get(numbers[0]) if numbers else None
    remedy = f"{other} is not driven" if other else "update the controller"
    return f"expected PolyScope 5.6 or a newer 5, got {version}; {remedy}"
