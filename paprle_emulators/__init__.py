"""Emulated robots, servos and sensors that speak their makers' bytes.

The devices need nothing of ``paprle``, and share no code with its drivers; the robot
behind ROS alone uses its transports.
"""

from __future__ import annotations

from paprle_emulators.process import Emulator, EmulatorError, start

__all__ = ["Emulator", "EmulatorError", "start"]
