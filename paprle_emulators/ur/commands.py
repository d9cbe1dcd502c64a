"""Commands of the control script that ur_rtde 1.6 uploads, by their numbers."""

from __future__ import annotations

from enum import IntEnum


class Command(IntEnum):
    """Numbers in the first integer register. spec: the script's ``process_cmd``."""

    NONE = 0
    MOVEJ = 1
    MOVEJ_IK = 2
    MOVEL = 3
    MOVEL_FK = 4
    FORCE_MODE = 6
    FORCE_MODE_STOP = 7
    ZERO_FTSENSOR = 8
    SPEEDJ = 9
    SPEEDL = 10
    SERVOJ = 11
    SERVOC = 12
    SPEED_STOP = 15
    SERVO_STOP = 16
    SET_PAYLOAD = 17
    TEACH_MODE = 18
    END_TEACH_MODE = 19
    FORCE_DAMPING = 20
    FORCE_GAIN = 21
    SERVOL = 24
    TOOL_CONTACT = 25
    STEP_TIME = 26
    JOINT_HISTORY = 27
    TARGET_WAYPOINT = 28
    SET_TCP = 29
    INVERSE_NEAR = 30
    PROTECTIVE_STOP = 31
    STOPL = 33
    STOPJ = 34
    WATCHDOG = 35
    IS_POSE_SAFE = 36
    IS_JOINTS_SAFE = 37
    JOINT_TORQUES = 38
    POSE_TRANS = 39
    TCP_OFFSET = 40
    START_JOG = 41
    STOP_JOG = 42
    FORWARD = 43
    FORWARD_OF = 44
    MOVE_PATH = 45
    INVERSE = 46
    IS_STEADY = 47
    MOVE_UNTIL_CONTACT = 51
    FREEDRIVE = 52
    END_FREEDRIVE = 53
    FREEDRIVE_STATUS = 54
    FT_RTDE_INPUT = 56
    EXTERNAL_FTSENSOR = 57
    FLANGE_POSE = 58
    SET_GRAVITY = 59
    HAS_INVERSE = 60
    HAS_INVERSE_NEAR = 61
    START_CONTACT = 62
    STOP_CONTACT = 63
    READ_CONTACT = 64
    SET_TARGET_PAYLOAD = 65
    DIRECT_TORQUE = 66
    MASS_MATRIX = 67
    CORIOLIS = 68
    TARGET_ACCELERATIONS = 69
    JACOBIAN = 70
    JACOBIAN_DERIVATIVE = 71
    STOP_SCRIPT = 255


AT_ONCE = frozenset(
    {
        Command.FORCE_MODE,
        Command.SPEEDJ,
        Command.SPEEDL,
        Command.SERVOJ,
        Command.SERVOL,
        Command.TOOL_CONTACT,
        Command.STEP_TIME,
        Command.JOINT_HISTORY,
        Command.JOINT_TORQUES,
        Command.FLANGE_POSE,
        Command.DIRECT_TORQUE,
        Command.MASS_MATRIX,
        Command.CORIOLIS,
        Command.TARGET_ACCELERATIONS,
        Command.JACOBIAN,
        Command.JACOBIAN_DERIVATIVE,
    }
)
"""Commands after which the script is ready in the same cycle. spec: its main loop."""
