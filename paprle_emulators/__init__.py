"""Emulated robots, servos and sensors that speak their makers' bytes.

They share no code with drivers; only the ROS robot uses paprle's transports.
"""

from __future__ import annotations

from paprle_emulators.process import Emulator, EmulatorError, start

__all__ = ["Emulator", "EmulatorError", "start"]
