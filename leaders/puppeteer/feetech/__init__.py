"""Feetech servos: bus, calibration and set-up."""
