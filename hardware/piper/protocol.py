"""Identifiers of the PiPER's CAN frames, by firmware.

Source: AgileX's PiPER manual, interface protocol V2.
"""

from __future__ import annotations

ENABLE, GRIPPER = 0x471, 0x159  # spec: protocol V2
JOINTS = (0x155, 0x156, 0x157)  # spec: two joints each
STATUS, GRIPPER_STATE = 0x2A1, 0x2A8  # spec: protocol V2
JOINT_STATES = (0x2A5, 0x2A6, 0x2A7)  # spec: two joints each
MOTORS_FAST = tuple(range(0x251, 0x257))  # spec: speed and current of joints 1 … 6
MOTORS_SLOW = tuple(range(0x261, 0x267))  # spec: voltage, temperatures, status bits
FIRMWARE, LIMITS = 0x4AF, 0x473  # spec: protocol V2, answers
GRIPPER_SETTINGS, ASKS_GRIPPER = 0x47E, 0x04  # spec: answer to 0x477, and its question
MOTION_IDS = frozenset((*range(0x150, 0x160), ENABLE))  # spec: what only a master sends

N_JOINTS = 6
QUARTER_UNTIL = (1, 8, 2)
"""Last firmware with which reports of joints 1 to 3, times the SDK's constants, are a
quarter of the torque. spec: piper_sdk, Q&A 3.2, and its issue 104."""

QUARTER = (4.0, 4.0, 4.0, 1.0, 1.0, 1.0)  # spec: the same
STICKY_BELOW = (1, 8, 6)
"""Firmware below this stays in MIT and JS until a reset. spec: piper_sdk, issue 83
(S-V1.8-5 and older); pyAgxArm's move_js says older than S-V1.8-5."""

BUS_OFF = 0x40  # spec: CAN_ERR_BUSOFF of linux/can/error.h
