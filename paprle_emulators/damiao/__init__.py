"""Emulated arms of Damiao motors on a CAN bus: OpenArm and YAM, with physics."""
